import { resources } from "../../chaos/cluster/resources";
import type { Cluster } from "../../chaos/cluster/client";
import { selectorOf } from "../../chaos/cluster/labels";
import { baseUrl, externalAddress } from "../../chaos/kinds/checks/service";
import { parseJson } from "../../chaos/values/json";
import { nodeImage } from "../../chaos/pods/pod-security";
import { isReady } from "../../chaos/values/kubernetes-rules";
import type { ManifestObject } from "../../components/manifest/read";
import { runCommand } from "../../toolchain/run-command";
import { kubectlApply } from "../on-cluster";
import { until } from "../time";

const readySeconds = 120;
const reachedSeconds = 30;

/** Answers every request, and closes no connection that is kept. */
const apiProgram = `
const server = require("node:http").createServer((_, response) => response.end("[]")).listen(8080);
server.keepAliveTimeout = 3_600_000;
`;

/**
 * Answers if one of eight requests to `api` is answered: each over a connection of its own, or all over one that is
 * kept. Or it answers 503. Also connects to it every 20 ms, and prints when that begins or ceases to work: by this the
 * attack is seen.
 */
const frontProgram = `
const http = require("node:http");
const net = require("node:net");
const agent = process.env.CALLS === "kept" && new http.Agent({ keepAlive: true, maxSockets: 1 });
const ask = () =>
    new Promise((resolve) => {
        const request = http.get({ host: "api", port: 80, agent, timeout: 300 }, (answer) => {
            answer.resume();
            resolve(true);
        });
        request.on("timeout", () => request.destroy()).on("error", () => resolve(false));
    });
http.createServer(async (_, response) => {
    for (let tries = 0; tries < 8 && process.env.CALLS !== "none"; tries++) if (await ask()) return response.end("[]");
    response.statusCode = 503;
    response.end();
}).listen(8080);
let works;
setInterval(() => {
    const at = Date.now();
    const socket = net.connect({ host: process.env.API_SERVICE_HOST, port: 80 });
    const ended = (accepted) => {
        socket.destroy();
        clearTimeout(timer);
        if (accepted !== works) console.log(JSON.stringify({ at, works: (works = accepted) }));
    };
    const timer = setTimeout(() => ended(false), Number(process.env.PATIENCE_MS));
    socket.once("connect", () => ended(true)).once("error", () => ended(false));
}, 20);
`;

/** How `front` and `api` run. */
export interface Shape {
    /** Pods of `api`. */
    replicas: number;
    /** How `front` calls `api`: over fresh connections, over one that it keeps, or not at all, so that it fails. */
    calls: "fresh" | "kept" | "none";
    /** How long a connection of `front` may take. Short ones show the moment; a busy machine needs longer ones. */
    patienceMs: number;
}

const labelsOf = (name: string) => ({ app: name });

/** Of the bench. */
const usual: Shape = { replicas: 1, calls: "fresh", patienceMs: 60 };

function deployment(name: string, program: string, replicas: number, env: Record<string, string>): ManifestObject {
    const container = {
        name,
        image: nodeImage,
        command: ["node", "--eval", program],
        env: Object.entries(env).map(([name, value]) => ({ name, value })),
        ports: [{ containerPort: 8080 }],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
    };
    const podSpec = { containers: [container], terminationGracePeriodSeconds: 1 };
    const template = { metadata: { labels: labelsOf(name) }, spec: podSpec };
    // All at once: less to wait for.
    const strategy = { rollingUpdate: { maxSurge: "100%" } };
    const spec = { replicas, strategy, selector: { matchLabels: labelsOf(name) }, template };
    return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec };
}

/** Of type LoadBalancer where this machine asks, too. */
const service = (name: string, type?: "LoadBalancer"): ManifestObject => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type, selector: labelsOf(name), ports: [{ port: 80, targetPort: 8080 }] },
});

/** When connections to `api` began or ceased to work, in milliseconds since the epoch. */
export interface Change {
    at: number;
    works: boolean;
}

/** Two Deployments in a namespace: `front`, which needs `api`. All tools attack the same ones. */
export class Application {
    private front = "";

    private constructor(
        private readonly cluster: Cluster,
        private readonly context: string,
        readonly namespace: string,
    ) {}

    static async install(cluster: Cluster, context: string, namespace: string): Promise<Application> {
        const application = new Application(cluster, context, namespace);
        // The address of the Service `api` is in the environment of pods that begin after it.
        await kubectlApply(context, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
        await application.apply(service("api"), service("front", "LoadBalancer"));
        await application.shape();
        return application;
    }

    /** Has new pods in the place of all there are. */
    async shape(shape: Partial<Shape> = {}): Promise<void> {
        const { replicas, calls, patienceMs } = { ...usual, ...shape };
        const frontEnv = { CALLS: calls, PATIENCE_MS: String(patienceMs) };
        await this.apply(deployment("api", apiProgram, replicas, {}), deployment("front", frontProgram, 1, frontEnv));
        await this.kubectl("rollout", "restart", "deployment");
        await this.kubectl("rollout", "status", "deployment", "--timeout", `${readySeconds}s`);
        // Those that end are still there for a moment.
        await until(`only ${replicas} of api and 1 of front are there, and ready`, readySeconds, async () => {
            const [api, front] = await Promise.all([this.podsOf("api"), this.podsOf("front")]);
            this.front = front[0]!.metadata!.name!;
            return api.length === replicas && front.length === 1 && [...api, ...front].every(isReady);
        });
        await this.untilReached();
    }

    /** Where this machine reaches `front`. */
    async address(): Promise<string> {
        const { namespace } = this;
        const exposed = await this.cluster.read({ resource: resources.service, name: "front", namespace });
        return baseUrl(externalAddress(exposed)!);
    }

    podsOf(name: "api" | "front") {
        return this.cluster.all(resources.pod, {
            namespace: this.namespace,
            labelSelector: selectorOf(labelsOf(name)),
        });
    }

    async apply(...objects: ManifestObject[]): Promise<void> {
        const { context, namespace } = this;
        await kubectlApply(
            context,
            objects.map((one) => ({ ...one, metadata: { ...one.metadata, namespace } })),
        );
    }

    /** Runs kubectl in the namespace. @returns what it has printed */
    kubectl(...args: string[]): Promise<string> {
        return runCommand("kubectl", ["--context", this.context, "--namespace", this.namespace, ...args]);
    }

    /** What `front` has seen so far. */
    async changes(): Promise<Change[]> {
        const log = await this.cluster.log({ namespace: this.namespace, name: this.front });
        return log.split("\n").flatMap((line) => (parseJson(line) as Change | undefined) ?? []);
    }

    async untilReached(): Promise<void> {
        const isReached = async () => (await this.changes()).at(-1)?.works === true;
        await until("front reaches api", reachedSeconds, isReached);
    }
}
