/** The steps of an experiment's lanes, by their types. */
import { type Fields, Refusal } from "../fields";
import { type Draft, killOnce, killsFewer } from "../imported";
import { placed, type Placed } from "../timeline";
import { rolloutOf, scaleOf } from "./actions";
import {
    bandwidthOf,
    blackholeOf,
    crashLoopOf,
    delayOf,
    dnsOf,
    fillMemoryOf,
    lossOf,
    type ReadAttack,
    stressCpuOf,
    stressMemoryOf,
} from "./attacks";
import { httpOf } from "./http-check";
import { otherOf } from "./others";

type ReadCheck = (parameters: Fields, step: { durationMs: number }) => Draft;
type ReadAction = (parameters: Fields, deployment: string | undefined) => Draft;

export type Meaning =
    /** `of`: what its radius counts. `differs`: how its targets do. `isAtOnce`: it has no duration. */
    | { is: "attack"; read: ReadAttack; of: "containers" | "pods"; differs?: string; isAtOnce?: true }
    | { is: "action"; read: ReadAction }
    | { is: "check"; read: ReadCheck }
    | { is: "count" }
    /** A check of something that no check here asks. `untilTrue`: it ends once that is true. */
    | { is: "foreign"; untilTrue?: true }
    | { is: "nothing"; why?: string };

const attack = (read: ReadAttack): Meaning => ({ is: "attack", read, of: "containers" });

const prefix = "com.steadybit.extension_";

/** By `actionType`, without its prefix. */
const meanings: Readonly<Record<string, Meaning>> = {
    "container.network_blackhole": attack(blackholeOf),
    "container.network_bandwidth": attack(bandwidthOf),
    "container.network_block_dns": attack(dnsOf),
    "container.network_delay": attack(delayOf),
    "container.network_package_loss": attack(lossOf),
    "container.stress_cpu": attack(stressCpuOf),
    "container.stress_mem": attack(stressMemoryOf),
    "container.fill_mem": attack(fillMemoryOf),
    "kubernetes.crash_loop_pod": {
        is: "attack",
        read: crashLoopOf,
        of: "pods",
        differs: "its containers run between two crashes there; here they do not run until the end",
    },
    "kubernetes.delete_pod": { is: "attack", read: () => killOnce, of: "pods", differs: killsFewer, isAtOnce: true },
    "kubernetes.rollout-restart": { is: "action", read: rolloutOf },
    "kubernetes.scale_deployment": { is: "action", read: scaleOf },
    "http.check.periodically": { is: "check", read: httpOf },
    "http.check.fixed_amount": { is: "check", read: httpOf },
    "kubernetes.pod_count_check": { is: "count" },
    "kubernetes.pod_count_check_statefulset": { is: "count" },
    "kubernetes.pod_count_check_daemonset": { is: "count" },
    "kubernetes.pod_count_check_replicaset": { is: "count" },
    "kubernetes.rollout-status": { is: "foreign", untilTrue: true },
    "kubernetes.node_count_check": { is: "foreign", untilTrue: true },
};

export interface Step extends Placed {
    fields: Fields;
    parameters: Fields;
    meaning: Meaning;
}

/** A step that means something of one kind. */
export type StepOf<I extends Meaning["is"]> = Step & { meaning: Extract<Meaning, { is: I }> };

export const isOf =
    <I extends Meaning["is"]>(is: I) =>
    (step: Step): step is StepOf<I> =>
        step.meaning.is === is;

/** Those of all lanes, with the times at which they begin. */
export const stepsIn = (object: Fields): Step[] =>
    placed(object.objects("lanes").map((lane) => lane.objects("steps").map(stepOf)));

/** Whether a pod count must be right for as long as the step lasts. @default at one moment */
export const isAllTheTime = (parameters: Fields): boolean => parameters.draft("statusCheckMode") === "allTheTime";

/** No rollout is waited for longer than this. */
const longestRolloutMs = 24 * 3_600_000;

function stepOf(fields: Fields) {
    const type = fields.word("type", { action: "action", wait: "wait" });
    const parameters = fields.object("parameters");
    const read: Meaning = type === "action" ? meaningOf(fields) : { is: "nothing" };
    // Steps that only show something may have their numbers checked, too.
    const meaning: Meaning =
        fields.has("metricChecks") && !["attack", "action"].includes(read.is) ? { is: "foreign" } : read;
    const durationMs = parameters.duration("duration") ?? 0;
    const isOnce = meaning.is === "count" ? !isAllTheTime(parameters) : meaning.is === "foreign" && meaning.untilTrue;
    const leastMs = isOnce ? 0 : durationMs;
    const mostMs = meaning.is === "action" && parameters.text("wait") === "true" ? longestRolloutMs : durationMs;
    return { fields, parameters, meaning, durationMs, leastMs, mostMs };
}

function meaningOf(fields: Fields): Meaning {
    const type = fields.text("actionType");
    if (type === undefined) fields.refuse("is missing", "actionType");
    const known = type?.startsWith(prefix) ? type.slice(prefix.length) : "";
    if (Object.hasOwn(meanings, known)) return meanings[known]!;
    const other = type === undefined ? "check" : otherOf(type);
    if (other instanceof Refusal) fields.refuse(`${type}: ${other.reason}`, "actionType");
    else if (other === "check" && type !== undefined) return { is: "foreign" };
    return { is: "nothing", ...(typeof other === "object" && "why" in other && { why: other.why }) };
}
