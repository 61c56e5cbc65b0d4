import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { journalSchema } from "../../../chaos/report/journal-schema";
import type { V1Deployment, V1DeploymentSpec } from "../../../chaos/values/kubernetes-types";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { paste, settingsToShow } from "../../support/advice";
import { until } from "../../support/until";
import { TestStack } from "../shop/support";

const namespace = "e2e-advice";

let stack: TestStack;
let installed: V1Deployment;
beforeAll(async () => {
    stack = await TestStack.open(namespace);
    await stack.up();
    await stack.untilWhole();
    installed = await hotDeals();
});
afterAll(() => stack.close());

const inShop = (...args: string[]) => kubectl(["--namespace", namespace, ...args]);
const hotDeals = async () =>
    JSON.parse(await inShop("get", "deployment", "hot-deals", "--output=json")) as V1Deployment;
const rolledOut = () => inShop("rollout", "status", "deployment", "hot-deals", "--timeout=60s");

/** Has hot-deals as it was installed, but for one thing. */
async function deploy(change: (spec: V1DeploymentSpec) => void): Promise<void> {
    const spec = structuredClone(installed.spec!);
    change(spec);
    const { name, labels, annotations } = installed.metadata!;
    const body = { ...installed, metadata: { name, namespace, labels, annotations }, spec, status: undefined };
    // The controller may change the status between kubectl's reading and writing.
    const replaced = () =>
        kubectl(["replace", "--filename=-"], body).then(
            () => true,
            (error: Error) => {
                if (!error.message.includes("(Conflict)")) throw error;
                return false;
            },
        );
    await until("hot-deals is replaced", replaced);
    await rolledOut();
    await stack.untilWhole();
}

interface Case {
    /** What hot-deals lacks. */
    lacks: string;
    without: (spec: V1DeploymentSpec) => void;
    settings: Record<string, string>;
    seen: RegExp;
    command: RegExp;
}

const withReplicas = (replicas: number) => (spec: V1DeploymentSpec) => void (spec.replicas = replicas);
const killed = { "experiment.name": "hot-deals-kill", "experiment.grace": "0s", "experiment.interval": "50ms" };

const oneReplica: Case = {
    lacks: "a second pod, while the only one is killed",
    without: withReplicas(1),
    settings: { ...killed, "experiment.duration": "13s" },
    seen: /^Deployment hot-deals had 1 replica, \S+\. Under attack, it had no ready pod for /,
    command: /"replicas":2/,
};
const slowReadiness: Case = {
    lacks: "a readiness probe that is quicker than the grace period",
    without: (spec) => {
        spec.replicas = 3;
        // It fails for the second time 10 s after the attack at the earliest, and 20 s after it at the latest.
        spec.template.spec!.containers[0]!.readinessProbe!.periodSeconds = 10;
    },
    settings: {
        "experiment.name": "hot-deals-blackhole",
        "experiment.grace": "7s",
        "experiment.duration": "18s",
        "experiment.interval": "100ms",
    },
    seen: /stayed ready until .* the readiness probe of hot-deals is sent every 10 s, and must fail 2 times/,
    command: /"readinessProbe":\{"periodSeconds":1,"failureThreshold":2\}/,
};
const noBudget: Case = {
    lacks: "a PodDisruptionBudget, while all pods are evicted",
    without: withReplicas(2),
    settings: { ...killed, "experiment.name": "hot-deals-evicted", "experiment.duration": "13s" },
    seen: /^All 2 pods of Deployment hot-deals were evicted within .* no PodDisruptionBudget selects them/,
    command: /create poddisruptionbudget hot-deals /,
};
/** Has a program of Node.js run something before it starts. */
const beginningWith = (code: string) => ({
    name: "NODE_OPTIONS",
    value: `--import=data:text/javascript,${encodeURIComponent(code)}`,
});
/**
 * It accepts connections 1.5 s later than it would: otherwise it is as quick as a probe. Even on a busy machine it does
 * within the 5 s until the next kill.
 */
const slowStart = beginningWith("await new Promise(go => setTimeout(go, 1500))");
const noReadinessProbe: Case = {
    lacks: "a readiness probe, while pods are killed",
    without: (spec) => {
        spec.replicas = 2;
        const [container] = spec.template.spec!.containers;
        delete container!.readinessProbe;
        container!.env = [...(container!.env ?? []), slowStart];
    },
    settings: { ...killed, "experiment.duration": "13s" },
    seen: /^\d pods of Deployment hot-deals were removed while .* counted as ready without a probe$/,
    command: /"readinessProbe":\{"tcpSocket":\{"port":\d+\},"periodSeconds":1\}/,
};
/**
 * It takes 500 ms for each answer, and exits at once when it is told to: the requests that it has then surely fail. It
 * would otherwise answer them, and hardly any come until Services lead to other pods only.
 */
const abruptEnd = beginningWith(`
    import { Server } from "node:http";
    const { emit } = Server.prototype;
    Server.prototype.emit = function (event, ...args) {
        if (event !== "request") return emit.call(this, event, ...args);
        setTimeout(() => emit.call(this, event, ...args), 500);
        return true;
    };
    process.on("SIGTERM", () => process.exit(0));
`);
const stopsAtOnce: Case = {
    lacks: "a hook to go on serving while it stops",
    without: (spec) => {
        spec.replicas = 3;
        const [container] = spec.template.spec!.containers;
        container!.env = [...(container!.env ?? []), abruptEnd];
    },
    // About 20 requests wait for an answer at a time, a third of them for the pod that is killed.
    settings: { ...killed, "experiment.interval": "25ms", "experiment.duration": "13s" },
    seen: /^\d pods? of Deployment hot-deals w\w+ removed while .* There is no preStop hook in hot-deals$/,
    command: /"preStop":\{"sleep":\{"seconds":5\}\}/,
};
// What one replica lacks if it is cut off is in the story's test.
const cases = [slowReadiness, noReadinessProbe, oneReplica, noBudget, stopsAtOnce];

/** What follows from an answer that this machine has missed is not known: there is no advice then. */
async function runWithoutStalls(run: string, settings: Record<string, string>): Promise<Conclusion> {
    for (let tries = 1; ; tries++) {
        const name = `${run}, ${tries}`;
        const ended = await stack.run({ ...settings, "experiment.enabled": "true", "experiment.run": name });
        const { checks } = journalSchema.parse(JSON.parse(readFileSync(ended.journal, "utf8")));
        const hasStalled = checks.some(({ answers }) => answers.some(({ unseen }) => unseen));
        if (!hasStalled || tries === 3) return ended;
    }
}

it.each(cases.map((one) => [one.lacks, one] as const))(
    "FAILED without %s; PASSED with the change and by the commands that are printed",
    async (run, { without, settings, seen, command }) => {
        await deploy(without);
        const failed = await runWithoutStalls(run, settings);
        expect(failed.verdict).toBe("FAILED");
        const [advice, ...others] = failed.advice ?? [];
        expect(others).toEqual([]);
        expect(advice?.seen).toMatch(seen);
        expect(advice!.command).toMatch(command);
        await paste(advice!.command);
        await rolledOut();
        const again = await stack.run(settingsToShow(advice!, namespace));
        expect(again.verdict, again.reason).toBe("PASSED");
    },
);
