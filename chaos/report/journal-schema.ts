import * as z from "zod";
import { deliverySchema } from "../kinds/actions/beside";
import { performedSchema } from "../kinds/actions/perform";
import { actionSchema } from "../kinds/actions/registry";
import { countsSchema } from "../kinds/attacks/counted";
import { usageSchema } from "../kinds/attacks/stress/usage";
import { attackSchema } from "../kinds/attacks/registry";
import { abortedSchema } from "../kinds/checks/abort";
import { baselineSchema } from "../kinds/checks/change-limits";
import { observedSchema, plannedCheckSchema } from "../kinds/checks/observe";
import type { Plan } from "../definition/plan";
import { instant, milliseconds, shareSchema } from "../values/texts";
import { conclusionSchema, direction } from "./conclusion";

const radius = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("count"), containers: z.int().positive() }),
    z.object({ kind: z.literal("share"), share: shareSchema }),
    z.object({ kind: z.literal("all") }),
]);

const plan = z.object({
    experiment: z.string(),
    run: z.string(),
    hypothesis: z.string(),
    context: z.string().optional(),
    settings: z.string().optional(),
    stack: z.string().optional(),
    command: z.string().optional().describe("The command that has done the run; absent if it was an update"),
    clusterName: z.string(),
    defaultNamespace: z.string(),
    agent: z.object({ namespace: z.string(), name: z.string() }).optional(),
    service: z.object({ namespace: z.string(), name: z.string(), port: z.int() }).optional(),
    area: z.string(),
    namespace: z.string(),
    attacks: z.array(
        z.object({
            name: z.string(),
            target: z.string(),
            radius,
            includeNotReady: z.boolean().optional(),
            attack: attackSchema,
            established: z.literal("cut").optional(),
            outward: z.literal("unproven").optional(),
        }),
    ),
    checks: z.array(plannedCheckSchema),
    actions: z.array(actionSchema),
    begin: z
        .object({ when: plannedCheckSchema, withinMs: milliseconds })
        .optional()
        .describe("What the run waited for; absent if it began at once"),
    window: z.object({ durationMs: milliseconds, graceMs: milliseconds }),
    baseline: z.object({ durationMs: milliseconds }).optional().describe("Absent if no check is compared with before"),
    deadlineMs: milliseconds,
    isUsualDeadline: z.literal(true).optional().describe("Nobody has set the deadline"),
    until: z.literal("disabled").optional().describe("Absent if the attacks end with the verdict"),
    onFailure: z.enum(["report", "fail"]),
    reports: z.string(),
}) satisfies z.ZodType<Plan>;

const target = z.object({
    namespace: z.string(),
    pod: z.string(),
    uid: z.string(),
    container: z.string(),
    node: z.string().optional().describe("The node of its pod"),
    containerId: z.string(),
    address: z.string(),
    addresses: z.array(z.string()).optional().describe("All addresses of a pod that has several"),
    ports: z.array(z.int()),
    prober: z
        .object({ container: z.string(), program: z.string().optional() })
        .optional()
        .describe("The container of the pod that connections were tried from, if not a shell in this one"),
});

const readiness = z.object({ at: instant, pod: z.string(), ready: z.boolean() });

const kill = z.object({ at: instant.describe("By the cluster's clock"), pod: z.string(), uid: z.string() });

const recovery = z.object({
    undoneAt: instant.describe("When nothing of the attack was left"),
    recoveredAfterMs: milliseconds.describe("From then until every check held"),
    checks: z.array(observedSchema).optional().describe("Some of the answers from then on; absent if not known"),
});

const established = z
    .object({
        direction: direction.optional(),
        became: z.enum(["cut", "survived", "unknown"]),
        afterMs: milliseconds
            .optional()
            .describe("From the failure of fresh connections until the last was cut, or closed by its target"),
        reason: z.string().optional().describe("Why that is unknown"),
    })
    .describe("What became of connections that were established before the attack; absent if one is not proven");

/** Each as a target names it: `k8s.deployment=hot-deals,k8s.namespace=demo`. */
const workloads = z.array(z.string());

const attack = z.object({
    name: z.string(),
    provenAt: instant.optional().describe("Since when it was proven; absent if it never was"),
    targets: z.array(target),
    workloads: workloads.optional().describe("What owns the targets; absent if that is not known"),
    peerWorkloads: workloads.optional().describe("What owns the peers; absent if they are not pods, or not known"),
    kills: z.array(kill).optional().describe("The deleted pods, if the attack deletes pods"),
    refused: z
        .array(kill.extend({ problem: z.string().describe("What the API server said") }))
        .optional()
        .describe("The pods whose eviction was refused, each at the first time; absent if none was"),
    usage: z
        .array(usageSchema)
        .optional()
        .describe("What the containers have used, by their cgroups, if the attack stresses them"),
    established: established.optional(),
    counts: countsSchema
        .optional()
        .describe("What reached the targets in the window, of an attack that counts it; absent if that is not known"),
    longestGapMs: milliseconds
        .optional()
        .describe("The longest time between two tries of the same from within the pods; absent if nothing was tried"),
    withoutTool: z
        .array(z.string())
        .optional()
        .describe("Pods of the targets in which nothing could be tried: no tool, or nothing may be run"),
    leftOut: z
        .array(z.string())
        .optional()
        .describe("Connections that did not work before the attack, and so are no part of its proof"),
    hosts: z
        .array(
            z.object({
                host: z.string(),
                port: z.int().describe("Where it was tried"),
                addresses: z.array(z.string()),
                allPorts: z.literal(true).optional().describe("Set if the attack is of all of its ports"),
            }),
        )
        .optional()
        .describe("The addresses of the attack's hosts, as the targets resolved them before the attack"),
});

/** To be increased by any change that older or newer versions of the package cannot read. */
export const journalVersion = 5;

/** Everything that a run saw, kept as a file. Times are milliseconds since the epoch unless they say otherwise. */
export const journalSchema = z.object({
    schema: z.literal(journalVersion),
    plan,
    conclusion: conclusionSchema,
    startedAt: instant,
    waitedMs: milliseconds
        .optional()
        .describe(
            "How long the run waited for what begins it; absent if for nothing, or if that did not hold by its end",
        ),
    attackedAt: instant
        .optional()
        .describe("Since when all attacks were proven; absent if one never was, or there is none"),
    aborted: abortedSchema.optional().describe("Set if an abort rule ended the attacks early"),
    endedAt: instant.describe("When the check ended; only with the plan's `until` may the attacks last longer"),
    attacks: z.array(attack),
    workloads: workloads
        .optional()
        .describe("The workloads of the attacks' namespace that could be attacked, without Jobs; absent if not known"),
    namespaceUid: z
        .string()
        .optional()
        .describe("The uid of the attacks' namespace; absent if it may not be read, or not known"),
    before: z
        .array(observedSchema)
        .optional()
        .describe("Some of the answers of the steady state; absent if nothing was attacked, or if not known"),
    baseline: z
        .array(baselineSchema)
        .optional()
        .describe("What the answers under attack are compared with; absent if no check is compared"),
    checks: z.array(observedSchema),
    actions: z.array(performedSchema),
    deliveries: z
        .array(deliverySchema)
        .optional()
        .describe("What loads have sent in the time that counts; absent without a load, or if the window ended early"),
    readiness: z
        .array(readiness)
        .describe("Of the pods in the default namespace: each pod's state at the start, then every change"),
    recovery: recovery
        .optional()
        .describe("Absent until the experiment is undone, or if the application was gone by then"),
});

export type Journal = z.infer<typeof journalSchema>;
export type ReadinessChange = z.infer<typeof readiness>;

/** For other programs. The package has it as `dist/journal.schema.json`. */
export const journalJsonSchema = () => z.toJSONSchema(journalSchema);
