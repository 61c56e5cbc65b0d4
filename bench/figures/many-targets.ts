import { readFileSync } from "node:fs";
import type { Journal } from "../../chaos/report/journal-schema";
import { kubectlApply } from "../cluster";
import { type Figure, measureRounds, ratio } from "../figure";
import { namespaces, type Session } from "../session";
import type { BenchStack } from "../stack";
import { until } from "../time";

const rounds = 3;
/** A node takes 110 pods by default. */
const many = 100;
const windowSeconds = 3;

export const manyTargets: Figure = {
    name: "many-targets",
    meaning:
        `time of both updates of an experiment with ${many} targets, without window, proof and recovery, ` +
        "compared with one target",
    bar: 1.5,
    unit: "ratio",
    samplesIn: "s",
    async measure(session) {
        await runServers(session, many);
        const stack = await session.manyTargetsStack();
        const samples = await measureRounds(rounds, session, async () => {
            const one = await measureRun(stack, "1");
            const all = await measureRun(stack, "all");
            return { one: one.work, all: all.work, "waits of one": one.waits, "waits of all": all.waits };
        });
        return { value: ratio(samples.all, samples.one), samples };
    },
};

/** One run, in seconds: its proof and its recovery are `waits`, the rest of both updates beyond the window `work`. */
async function measureRun(stack: BenchStack, radius: string) {
    await stack.set({ enabled: "true", radius });
    const enable = await stack.up();
    const { journal: path, verdict } = await stack.output<{ journal: string; verdict: string }>("conclusion");
    await stack.set({ enabled: "false" });
    const disable = await stack.up();
    if (verdict !== "PASSED") throw new Error(`the verdict was ${verdict} instead of PASSED; see ${path}`);
    const journal = JSON.parse(readFileSync(path, "utf8")) as Journal;
    const proof = (journal.endedAt - journal.startedAt) / 1_000 - windowSeconds;
    const waits = proof + journal.recovery!.recoveredAfterMs / 1_000;
    return { work: enable + disable - windowSeconds - waits, waits };
}

/** Runs so many small pods with one port each in `namespaces.targets`, and waits until they are ready. */
async function runServers({ cluster, context }: Session, replicas: number): Promise<void> {
    const namespace = namespaces.targets;
    const labels = { app: "servers" };
    const container = {
        name: "server",
        image: "docker.io/library/nats:2.9.10",
        ports: [{ containerPort: 4222 }],
        resources: { requests: { cpu: "1m", memory: "8Mi" } },
    };
    const pod = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, containers: [container] };
    const spec = { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
    await kubectlApply(context, [
        { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
        { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "servers", namespace }, spec },
    ]);
    await until(`${replicas} pods in ${namespace} are ready`, 300, 1_000, async () => {
        const { status } = await cluster.apps.readNamespacedDeployment({ name: "servers", namespace });
        return status?.readyReplicas === replicas;
    });
}
