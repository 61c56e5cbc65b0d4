import { resources } from "../../chaos/cluster/resources";
import type { Cluster } from "../../chaos/cluster/client";
import { baseUrl, externalAddress } from "../../chaos/kinds/checks/service";
import { nodeImage } from "../../chaos/pods/pod-security";
import { isReady } from "../../chaos/values/kubernetes-rules";
import type { ManifestObject } from "../../components/manifest/read";
import { kubectlApply } from "../on-cluster";
import { until } from "../time";

const readySeconds = 120;
const reachedSeconds = 30;

/** Answers every request. */
const apiProgram = `require("node:http").createServer((_, response) => response.end("[]")).listen(8080);`;

/**
 * Answers if one of eight requests to `api` is answered, each over a connection of its own. Also connects to it every
 * 20 ms, and prints when that begins or ceases to work: by this the bench sees the attack.
 */
const frontProgram = `
const http = require("node:http");
const net = require("node:net");
const ask = () =>
    new Promise((resolve) => {
        const request = http.get({ host: "api", port: 80, agent: false, timeout: 300 }, (answer) => {
            answer.resume();
            resolve(true);
        });
        request.on("timeout", () => request.destroy()).on("error", () => resolve(false));
    });
http.createServer(async (_, response) => {
    for (let tries = 0; tries < 8; tries++) if (await ask()) return response.end("[]");
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
    const timer = setTimeout(() => ended(false), 60);
    socket.once("connect", () => ended(true)).once("error", () => ended(false));
}, 20);
`;

const labelsOf = (name: string) => ({ app: name });

function deployment(name: string, program: string): ManifestObject {
    const ports = [{ containerPort: 8080 }];
    const readinessProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1 };
    const container = { name, image: nodeImage, command: ["node", "--eval", program], ports, readinessProbe };
    const template = { metadata: { labels: labelsOf(name) }, spec: { containers: [container] } };
    const spec = { replicas: 1, selector: { matchLabels: labelsOf(name) }, template };
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

/** Two pods in a namespace: `front`, which needs `api`. All tools attack the same ones. */
export class Application {
    private constructor(
        private readonly cluster: Cluster,
        readonly namespace: string,
        private readonly front: string,
        /** Where this machine reaches `front`. */
        readonly address: string,
    ) {}

    static async install(cluster: Cluster, context: string, namespace: string): Promise<Application> {
        const inNamespace = (one: ManifestObject) => ({ ...one, metadata: { ...one.metadata, namespace } });
        // The address of the Service `api` is in the environment of pods that begin after it.
        const namespaced = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
        const services = [service("api"), service("front", "LoadBalancer")];
        await kubectlApply(context, [namespaced, ...services.map(inNamespace)]);
        const programs = { api: apiProgram, front: frontProgram };
        await kubectlApply(
            context,
            Object.entries(programs).map(([name, program]) => inNamespace(deployment(name, program))),
        );
        const running = async () => (await cluster.all(resources.pod, { namespace })).filter(isReady);
        await until("the two pods are ready", readySeconds, async () => (await running()).length === 2);
        const { metadata } = (await running()).find(({ metadata }) => metadata!.labels?.app === "front")!;
        const exposed = await cluster.read({ resource: resources.service, name: "front", namespace });
        const address = baseUrl(externalAddress(exposed)!);
        return new Application(cluster, namespace, metadata!.name!, address);
    }

    /** What `front` has seen so far. */
    async changes(): Promise<Change[]> {
        const log = await this.cluster.log({ namespace: this.namespace, name: this.front });
        return log.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Change]));
    }

    async untilReached(): Promise<void> {
        const isReached = async () => (await this.changes()).at(-1)?.works === true;
        await until("front reaches api", reachedSeconds, isReached);
    }
}
