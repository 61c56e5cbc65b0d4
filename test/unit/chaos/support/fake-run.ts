import type { Cluster } from "../../../../chaos/cluster/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { labels, targetLabelOf } from "../../../../chaos/cluster/labels";
import { JobLog } from "../../../../chaos/witness/job-log";
import type {
    ConnectionReport,
    KeptState,
    KillReport,
    Missed,
    RefusedEviction,
} from "../../../../chaos/witness/protocol";
import { parseEndpoint } from "../../../../chaos/values/endpoint";
import { endpointsOf } from "../../../../chaos/witness/api";
import type { Plan } from "../../../../chaos/definition/plan";
import type { StepContext } from "../../../../chaos/run/contract";
import type { Pod, Target } from "../../../../chaos/targets/containers";
import { FakeCluster } from "./fake-cluster";
import { startClock, stopClock } from "./time";

export const job = "run-deadline";
/** By this value of a label, policies let the run's own pods through. */
export const pass = "0123456789abcdef";
export const jobAddress = "10.0.0.99";
/** The NetworkPolicy of the attack, or the request to kill pods. */
export const attackObject = "run-blackhole";
const lookMs = 250;
/** How long a probe from within a pod takes. */
const probeMs = 20;

const planned: Omit<Plan, "reports"> = {
    experiment: "hot-deals-blackhole",
    run: "1",
    hypothesis: "It holds.",
    context: "kind-kind",
    clusterName: "local",
    defaultNamespace: "demo",
    area: "Global",
    namespace: "demo",
    attacks: [
        {
            name: "blackhole",
            target: "k8s.deployment=hot-deals,k8s.namespace=demo",
            radius: { kind: "count", containers: 1 },
            attack: { kind: "blackhole" },
        },
    ],
    checks: [
        {
            name: "pods",
            check: { kind: "podsReady", of: "k8s.deployment=hot-deals" },
            intervalMs: 250,
            timeoutMs: 1_000,
            successRate: 1,
        },
    ],
    actions: [],
    window: { graceMs: 1_000, durationMs: 2_000 },
    deadlineMs: 600_000,
    // As by default for the shop.
    until: "disabled",
    onFailure: "report",
    settings: "experiment.",
};

/** An experiment on a fake cluster, with two pods of hot-deals and the deadline Job, on a fake clock. */
export class FakeRun {
    readonly cluster = new FakeCluster();
    readonly said: string[] = [];
    plan: Plan = { ...structuredClone(planned), reports: mkdtempSync(join(tmpdir(), "chaos-shop-run-")) };
    /** Whether NetworkPolicies have an effect. */
    enforced = true;
    /** Whether the Job reports what it sees. */
    reporting = true;
    /** How long it tries connections that fail, in milliseconds. */
    tryMs = 0;
    /** Whether it notes on its pod what it cannot reach. */
    notesClosed = true;
    /** What the connections show that the Job keeps, by name. */
    kept: () => Record<string, KeptState> = () => ({});
    /** Whether a probe from within a pod works. A text is why nothing can be run there. */
    probe = (_pod: string, _args: readonly string[]): boolean | string => !this.isCut();
    /** Whether a container has a program, such as `sh`. */
    hasProgram = (_container: string, _program: string): boolean => true;
    /** The addresses that a pod finds for a name. */
    resolves = (_pod: string, _host: string): readonly string[] => [];
    /** Addresses of targets that the Job can reach under attack. */
    reachable: readonly string[] = [];
    /** At which ports the pods' programs listen. */
    listensAt = (_port: number, _address: string): boolean => true;

    private readonly jobLog = new JobLog((line) => {
        const { logs } = this.cluster;
        logs.set(job, (logs.get(job) ?? "") + line);
    }, 1);

    constructor() {
        stopClock();
        this.cluster.add("Namespace", "demo");
        const deployment = { kind: "Deployment", name: "hot-deals" };
        this.cluster.add("ReplicaSet", "set", { metadata: { uid: "set", ownerReferences: [deployment] } });
        const status = { replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
        this.cluster.add("Deployment", "hot-deals", { spec: { replicas: 2 }, status });
        this.addPod("hot-deals-1", "10.0.0.1");
        this.addPod("hot-deals-2", "10.0.0.2");
        const metadata = {
            labels: {
                "batch.kubernetes.io/job-name": job,
                [labels.experiment]: planned.experiment,
                [labels.pass]: pass,
            },
        };
        const running = { phase: "Running", containerStatuses: [{ name: "deadline", state: { running: {} } }] };
        const { uid } = this.cluster.add("Job", job).metadata;
        const ownerReferences = [{ kind: "Job", name: job, uid, controller: true }];
        Object.assign(metadata, { ownerReferences });
        this.cluster.addRightsOfJob(job);
        this.cluster.add("Pod", job, { metadata, spec: { containers: [] }, status: running });
        setInterval(() => this.look(), lookMs);
        this.cluster.api.exec = (...args) => this.exec(...args);
    }

    close(): void {
        vi.restoreAllMocks();
        startClock();
        rmSync(this.plan.reports, { recursive: true });
    }

    get context(): StepContext {
        return { plan: this.plan, stack: "ours", cluster: this.cluster.api, say: (message) => this.said.push(message) };
    }

    /** @param ips its addresses: of each family one */
    addPod(name: string, ...ips: [string, ...string[]]): void {
        this.cluster.add("Pod", name, {
            metadata: { ownerReferences: [{ kind: "ReplicaSet", name: "set", uid: "set", controller: true }] },
            spec: { containers: [{ name: "hot-deals", ports: [{ containerPort: 8080 }] }] },
            status: {
                phase: "Running",
                podIP: ips[0],
                podIPs: ips.map((ip) => ({ ip })),
                containerStatuses: [{ name: "hot-deals", containerID: `${name}-container`, state: { running: {} } }],
                conditions: [{ type: "Ready", status: "True" }],
            },
        });
    }

    /** Adds an agent: its DaemonSet, its key, and a pod that answers with this. */
    addAgent(namespace: string, targets: object[], name = "agent"): void {
        const labels = { app: name };
        const volumes = [{ name: "key", secret: { secretName: "agent-key" } }];
        const spec = { selector: { matchLabels: labels }, template: { spec: { volumes } } };
        this.cluster.add("DaemonSet", name, { spec }, namespace);
        this.cluster.add("Secret", "agent-key", { data: { key: "a2V5" } }, namespace);
        this.cluster.add("Pod", `${name}-1`, { metadata: { labels } }, namespace);
        const others = this.cluster.proxied;
        this.cluster.proxied = (request) => (request.namespace === namespace ? { targets } : others(request));
    }

    setReady(pod: string, ready: boolean): void {
        this.cluster.get("Pod", pod).status.conditions[0].status = ready ? "True" : "False";
    }

    target(pod = "hot-deals-1"): Target {
        const { metadata, status } = this.cluster.get("Pod", pod);
        const address = status.podIP as string;
        const addresses = (status.podIPs as { ip: string }[]).map(({ ip }) => ip);
        const containerId = `${pod}-container`;
        return {
            namespace: "demo",
            pod,
            uid: metadata.uid!,
            container: "hot-deals",
            containerId,
            address,
            ...(addresses.length > 1 && { addresses }),
            ports: [8080],
        };
    }

    /** Labels the target, and has the Job look at it. */
    async label(pod = "hot-deals-1", value = "hot-deals-blackhole.blackhole"): Promise<void> {
        this.cluster.get("Pod", pod).metadata.labels = { [labels.target]: value };
        await vi.advanceTimersByTimeAsync(2 * lookMs);
    }

    /** Creates the attack's object. */
    attack(): void {
        this.cluster.add("NetworkPolicy", attackObject, {
            metadata: { labels: { [labels.experiment]: planned.experiment } },
            spec: {
                podSelector: { matchLabels: { [labels.target]: "hot-deals-blackhole.blackhole" } },
                policyTypes: ["Ingress", "Egress"],
            },
        });
    }

    /** Runs something when the clock has advanced this far. */
    after(ms: number, change: () => void): void {
        setTimeout(change, ms);
    }

    /** Has the Job log something. */
    report(report: ConnectionReport | KillReport | RefusedEviction | Missed): void {
        if ("open" in report) this.jobLog.looked(report);
        else this.jobLog.reported(report);
    }

    private isCut(): boolean {
        return this.enforced && this.cluster.names("NetworkPolicy").includes(attackObject);
    }

    /** What the Job's program does: notes which ports it watches, and reports whether they can be reached. */
    private look(): void {
        if (!this.reporting) return;
        const targets = this.cluster.names("Pod").map((name) => this.cluster.get("Pod", name));
        const watched = targets.filter(targetLabelOf).flatMap((pod) => endpointsOf(pod as Pod));
        const isOpen = (endpoint: string) => {
            const { host, port } = parseEndpoint(endpoint);
            return this.listensAt(port, host) && (!this.isCut() || this.reachable.includes(host));
        };
        const open = watched.filter(isOpen);
        const closed = watched.filter((endpoint) => !isOpen(endpoint));
        const report = { at: Date.now(), open, closed, kept: this.kept() };
        if (closed.length === 0 || this.tryMs === 0) this.report(report);
        else setTimeout(() => this.report({ ...report, triedMs: this.tryMs }), this.tryMs);
        const presence = JSON.stringify({ address: jobAddress, watched, ...(this.notesClosed && { closed }) });
        this.cluster.get("Pod", job).metadata.annotations = { "chaos-experiments/witness": presence };
    }

    private async exec(...[{ pod, container }, command, onOutput]: Parameters<Cluster["exec"]>) {
        const program = command[0]!;
        if (!this.hasProgram(container, program)) {
            await sleep(probeMs);
            const message = `failed to exec in container: exec: "${program}": executable file not found in $PATH`;
            return { status: "Failure", message };
        }
        const asked = command.slice(5);
        const addresses = asked.length === 1 ? this.resolves(pod, asked[0]!) : [];
        if (addresses.length > 0)
            onOutput(Buffer.from(addresses.map((one) => `${one} STREAM ${asked[0]}\n`).join("")), false);
        const worked = addresses.length > 0 || this.probe(pod, asked);
        if (typeof worked === "string") throw new Error(worked);
        await sleep(probeMs);
        const causes = [{ reason: "ExitCode", message: "1" }];
        return worked ? { status: "Success" } : { status: "Failure", details: { causes } };
    }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
