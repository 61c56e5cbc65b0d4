import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { annotations, labels } from "../../../../chaos/cluster/labels";
import type { KeptTargets } from "../../../../chaos/definition/plan";
import type { DeadlineEnvironment, JobAttack } from "../../../../chaos/witness/protocol";
import { leasePath } from "../../../../chaos/lease/lease-record";
import { bundledFile } from "../../../../toolchain/bundle";
import { makeCertificate } from "../../../support/certificate";
import { local, until } from "../../../support/until";

type TriedAttack = Omit<JobAttack, "what"> & Partial<JobAttack>;

/** An object, by its API path. */
type Objects = Map<string, any>;

export const policyPath = "/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/run-blackhole";
/** The policy that lets the Job through. */
export const jobPolicyPath = "/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/run-job";
export const killPath = "/api/v1/namespaces/demo/configmaps/run-kill";
export const leaseOfDemo = leasePath("demo");
export const podPath = (name: string) => `/api/v1/namespaces/demo/pods/${name}`;

/** The deadline Job's program as a process, and an API server that holds some objects for it. */
export class JobProcess {
    readonly objects: Objects = new Map();
    /** Every request, as `GET /api/v1/…`, without the query. */
    readonly requests: string[] = [];
    /** Their queries, as in their addresses. */
    readonly queries: string[] = [];
    /** All connections to the API server. */
    readonly connections: Socket[] = [];
    /** The status that refuses a request. Undefined if it is answered. */
    refuse: (request: string) => number | undefined = () => undefined;
    /** The Status that refuses the eviction of a pod. Undefined if it is evicted. */
    refuseEviction: (pod: string) => { code: number } | undefined = () => undefined;
    /** Whether a request gets no answer. */
    hang: (request: string) => boolean = () => false;
    /** How far the API server's clock is ahead of the node's, in milliseconds. */
    clockAheadMs = 0;
    /** Whether the policy is there that lets the Job through. */
    hasJobPolicy = true;
    /** The program's log so far. */
    output = "";
    exitCode: number | null | undefined;
    private readonly folder = mkdtempSync(join(tmpdir(), "chaos-shop-job-"));
    private server?: Server;
    private child?: ChildProcess;

    addPod(
        name: string,
        {
            label = "x.blackhole",
            address = "127.0.0.1",
            containers = 1,
            port = 1,
            padding = "",
            owner = "set",
            nodeName = "node-1",
        } = {},
    ): void {
        this.objects.set(podPath(name), {
            metadata: {
                name,
                namespace: "demo",
                uid: name,
                resourceVersion: "1",
                labels: { ...(label && { [labels.target]: label }) },
                annotations: { padding },
                ownerReferences: [{ kind: "ReplicaSet", name: owner, uid: owner, controller: true }],
            },
            spec: {
                nodeName,
                containers: Array.from({ length: containers }, (_, index) => ({
                    name: `c${index}`,
                    ports: [{ containerPort: port + index }],
                })),
            },
            status: { phase: "Running", podIP: address, conditions: [{ type: "Ready", status: "True" }] },
        });
    }

    /** Adds the object that is the attack. */
    addAttack(path: string): void {
        this.objects.set(path, { metadata: { creationTimestamp: new Date().toISOString() } });
    }

    /** Adds the namespace's lease, which a run holds for a minute. */
    addLease(run = "run", renewedAt = new Date(), kept: KeptTargets = {}): void {
        this.objects.set(leaseOfDemo, {
            metadata: {
                annotations: { [annotations.run]: run, [annotations.kept]: JSON.stringify(kept) },
            },
            spec: {
                acquireTime: renewedAt.toISOString(),
                renewTime: renewedAt.toISOString(),
                leaseDurationSeconds: 60,
            },
        });
    }

    /** Runs the program. */
    async start(attacks: TriedAttack[], environment: Partial<DeadlineEnvironment> = {}, nodeOptions: string[] = []) {
        const { keyFile, certificateFile } = makeCertificate(this.folder);
        cpSync(certificateFile, join(this.folder, "ca.crt"));
        writeFileSync(join(this.folder, "token"), "none is asked for");
        const certificate = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) };
        this.server = createServer(certificate, (request, response) => {
            let body = "";
            request.on("data", (text) => (body += String(text)));
            request.on("end", () => {
                if (this.hang(`${request.method} ${request.url!.split("?")[0]}`)) return;
                const { status, answer } = this.answer(request.method!, request.url!, body);
                response.setHeader("date", new Date(Date.now() + this.clockAheadMs).toUTCString());
                response.writeHead(status).end(JSON.stringify(answer));
            });
        });
        this.server.on("connection", (socket: Socket) => this.connections.push(socket));
        if (this.hasJobPolicy) this.objects.set(jobPolicyPath, { metadata: { name: "run-job", generation: 1 } });
        this.objects.set(podPath(hostname()), { metadata: { name: hostname(), labels: {} } });
        this.server.listen(0, "127.0.0.1");
        await once(this.server, "listening");
        const program = bundledFile(join("chaos", "witness", "job-program.ts"), { minify: false });
        this.child = spawn(process.execPath, [...nodeOptions, program], {
            env: {
                NAMESPACE: "demo",
                ATTACKS: JSON.stringify(attacks.map((attack) => ({ what: "cut off from the network", ...attack }))),
                CHANGED: "[]",
                DEADLINE_MS: "600000",
                POD_IPS: "fd00::9,10.0.0.9",
                LEASE: JSON.stringify({ path: leaseOfDemo, run: "run" }),
                ...environment,
                ACCOUNT_FOLDER: this.folder,
                KUBERNETES_SERVICE_HOST: "127.0.0.1",
                KUBERNETES_SERVICE_PORT: String((this.server.address() as AddressInfo).port),
            },
        });
        for (const stream of [this.child.stdout!, this.child.stderr!])
            stream.setEncoding("utf8").on("data", (text: string) => (this.output += text));
        this.child.once("exit", (code) => (this.exitCode = code));
    }

    /** Starts the Job with an attack that kills twenty pods of the namespace at a time, and waits until it has. */
    async killTwenty(nodeOptions: string[], timeoutMs: number): Promise<void> {
        this.addAttack(killPath);
        const told = {
            intervalMs: 1_000,
            effect: "killed repeatedly",
            target: "k8s.namespace=demo",
            radius: { kind: "count", containers: 20 },
            clusterName: "local",
        } as const;
        await this.start([{ kind: "kill", path: killPath, label: "x.kill", told }], {}, nodeOptions);
        const killed = () => this.requests.filter((request) => /^DELETE .*\/pods\//.test(request)).length;
        await this.until("twenty are killed", () => killed() >= 20, timeoutMs);
    }

    /** Waits until something holds. @throws Error with the program's log if it does not within 10 s */
    async until(what: string, holds: () => boolean, timeoutMs = 10_000): Promise<void> {
        await until(what, holds, { ...local, timeoutMs }).catch((error: Error) => {
            throw new Error(`${error.message}\n${this.output.slice(-2_000)}`);
        });
    }

    labelOf(pod: string): string | undefined {
        return this.objects.get(podPath(pod))?.metadata.labels[labels.target];
    }

    /** Its peak resident memory; VmHWM is in KiB (proc_pid_status(5)). */
    peakKibibytes(): number {
        const status = readFileSync(`/proc/${this.child!.pid}/status`, "utf8");
        return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]);
    }

    close(): void {
        this.child?.kill("SIGKILL");
        this.server?.closeAllConnections();
        this.server?.close();
        rmSync(this.folder, { recursive: true });
    }

    private answer(method: string, url: string, body: string): { status: number; answer: unknown } {
        const { pathname, searchParams } = new URL(url, "https://127.0.0.1");
        this.requests.push(`${method} ${pathname}`);
        this.queries.push(url.split("?")[1] ?? "");
        const status = this.refuse(`${method} ${pathname}`);
        if (status !== undefined) return { status, answer: { message: "refused" } };
        if (method === "GET" && /\/(?:pods|replicasets|networkpolicies)$/.test(pathname))
            return { status: 200, answer: this.list(pathname, searchParams) };
        if (method === "POST") return this.create(pathname, JSON.parse(body));
        const object = this.objects.get(pathname);
        if (object === undefined) return { status: 404, answer: { reason: "NotFound" } };
        if (method === "DELETE") this.objects.delete(pathname);
        if (method === "PATCH") {
            const patch = JSON.parse(body);
            const { resourceVersion = "" } = object.metadata;
            if ((patch.metadata?.resourceVersion ?? resourceVersion) !== resourceVersion)
                return { status: 409, answer: {} };
            mergeInto(object, patch);
            object.metadata.resourceVersion = `${resourceVersion}1`;
        }
        return { status: 200, answer: object };
    }

    private create(pathname: string, body: any): { status: number; answer: unknown } {
        const [, pod] = /\/pods\/([^/]+)\/eviction$/.exec(pathname) ?? [];
        if (pod === undefined) {
            const path = `${pathname}/${body.metadata.name}`;
            if (this.objects.has(path)) return { status: 409, answer: {} };
            this.objects.set(path, body);
            return { status: 201, answer: body };
        }
        const refusal = this.refuseEviction(pod);
        if (refusal) return { status: refusal.code, answer: refusal };
        return this.objects.delete(podPath(pod))
            ? { status: 201, answer: {} }
            : { status: 404, answer: { reason: "NotFound" } };
    }

    private list(pathname: string, query: URLSearchParams): object {
        const conditions = (query.get("labelSelector") ?? "").split(/,(?![^(]*\))/).filter(Boolean);
        const all = [...this.objects]
            .filter(([path]) => path.startsWith(`${pathname}/`))
            .map(([, object]) => object)
            .filter(({ metadata }) => conditions.every((one) => holds(one, metadata.labels)))
            .filter(({ metadata }) => [null, `metadata.name=${metadata.name}`].includes(query.get("fieldSelector")));
        const [from, limit] = [Number(query.get("continue") ?? 0), Number(query.get("limit") ?? all.length)];
        const next = from + limit < all.length ? { continue: String(from + limit) } : {};
        return { metadata: next, items: all.slice(from, from + limit) };
    }
}

/** A condition of a label selector: `key`, `!key`, `key=value` or `key in (one,another)`. */
function holds(condition: string, of: Record<string, string> = {}): boolean {
    const [label, value] = condition.split("=");
    if (value !== undefined) return of[label!] === value;
    const [, not, key = "", values] = /^(!?)(\S+?)(?: in \((.*)\))?$/.exec(condition)!;
    if (values !== undefined) return values.split(",").includes(of[key]!);
    return key in of === (not === "");
}

/** A JSON merge patch (RFC 7396) of objects. */
function mergeInto(object: any, patch: any): void {
    for (const [key, value] of Object.entries(patch)) {
        if (value === null) delete object[key];
        else if (typeof value === "object" && !Array.isArray(value) && typeof object[key] === "object")
            mergeInto(object[key], value);
        else object[key] = value;
    }
}
