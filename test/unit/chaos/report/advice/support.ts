import type { Attack } from "../../../../../chaos/kinds/attacks/registry";
import type { Facts } from "../../../../../chaos/report/advice/facts";
import { type Journal, journalSchema } from "../../../../../chaos/report/journal-schema";
import { journal } from "../support";

const attackedAt = 1_800_000_000_000;
export const pod = (number: number) => `hot-deals-7d9f8b5c6d-abcd${number}`;

/** Times are seconds since the attack was proven. */
export interface Seen {
    attack?: Attack;
    target?: string;
    radius?: Journal["plan"]["attacks"][number]["radius"];
    /** Pods that are attacked. @default the first */
    targets?: string[];
    kills?: [at: number, pod: string][];
    /** When pods became ready, or not. */
    readiness?: [at: number, pod: string, ready: boolean][];
    /** When requests failed: from, up to but not including. */
    failed?: [from: number, to: number][];
    /** Of each request, in milliseconds. */
    latencyMs?: number;
    graceMs?: number;
    successRate?: number;
    actions?: Journal["plan"]["actions"];
    verdict?: Journal["conclusion"]["verdict"];
    settings?: string;
    defaultNamespace?: string;
}

/** The journal of a run of 20 s that sent a request every 500 ms, unless something else is said. */
export function runThat(seen: Seen): Journal {
    const { attack = { kind: "blackhole" }, target = "k8s.deployment=hot-deals,k8s.namespace=demo" } = seen;
    const { radius = { kind: "count", containers: 1 }, targets = [pod(1)], readiness = [], failed = [] } = seen;
    const { graceMs = 5_000, successRate = 1, actions = [], verdict = "FAILED", settings = "experiment." } = seen;
    const { defaultNamespace = "demo", latencyMs = 5 } = seen;
    const at = (seconds: number) => attackedAt + seconds * 1_000;
    const container = { ...journal.attacks[0]!.targets[0]!, container: "app" };
    const asked = Array.from({ length: 40 }, (_, index) => index / 2);
    return journalSchema.parse({
        ...journal,
        plan: {
            ...journal.plan,
            settings,
            context: "kind",
            namespace: "demo",
            defaultNamespace,
            attacks: [{ name: attack.kind, target, radius, attack }],
            checks: [{ ...journal.plan.checks[0]!, successRate }],
            actions,
            window: { graceMs, durationMs: 20_000 - graceMs },
        },
        conclusion: { ...journal.conclusion, verdict },
        startedAt: at(-5),
        attackedAt,
        endedAt: at(20),
        attacks: [
            {
                name: attack.kind,
                targets: targets.map((name) => ({ ...container, pod: name, uid: name })),
                kills: seen.kills?.map(([when, name]) => ({ at: at(when), pod: name, uid: name })),
            },
        ],
        checks: [
            {
                name: journal.plan.checks[0]!.name,
                answers: asked.map((second) => ({
                    at: at(second),
                    latencyMs,
                    good: !failed.some(([from, to]) => second >= from && second < to),
                })),
            },
        ],
        actions: [],
        readiness: readiness.map(([when, name, ready]) => ({ at: at(when), pod: name, ready })),
    });
}

export interface Deployed {
    replicas?: number;
    template?: object;
    /** Of its only container. */
    container?: object;
    strategy?: string;
    budgets?: Facts["budgets"];
    otherNodes?: number;
    isScaled?: boolean;
    paused?: boolean;
}

/** What the cluster says of a Deployment hot-deals. */
export const deployed = ({ replicas = 1, template, container, strategy, paused, ...rest }: Deployed): Facts => ({
    name: "hot-deals",
    kubectl: "kubectl --context kind --namespace demo",
    spec: {
        replicas,
        paused,
        selector: { matchLabels: { app: "hot-deals" } },
        strategy: { type: strategy },
        template: {
            metadata: { labels: { app: "hot-deals", tier: "web" } },
            spec: { containers: [{ name: "app", ...container }], ...template },
        },
    },
    budgets: "budgets" in rest ? rest.budgets : [],
    otherNodes: rest.otherNodes,
    isScaled: rest.isScaled,
});
