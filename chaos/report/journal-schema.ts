import * as z from "zod";
import { actionSchema } from "../actions/registry";
import { attackSchema } from "../attacks/registry";
import type { Aborted } from "../checks/abort";
import { checkSchema } from "../checks/registry";
import type { Plan } from "../definition/plan";
import { type ReasonCode, reasonCodes } from "../reasons";
import type { Conclusion } from "./conclusion";
import { verdicts } from "./verdict";

/** Milliseconds since the epoch. */
const instant = z.int().nonnegative();
/** A length of time in milliseconds. */
const milliseconds = z.number().nonnegative();

const since = "Since the attack was proven, or since the checks began if there is none";

const share = z.number().positive().max(1);
const radius = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("count"), containers: z.int().positive() }),
    z.object({ kind: z.literal("share"), share }),
    z.object({ kind: z.literal("all") }),
]);

const plan = z.object({
    experiment: z.string(),
    run: z.string(),
    hypothesis: z.string(),
    context: z.string().optional(),
    settings: z.string().optional(),
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
    checks: z.array(
        z.object({
            name: z.string(),
            check: checkSchema,
            intervalMs: milliseconds,
            timeoutMs: milliseconds,
            successRate: share,
            abort: z
                .object({ below: share, overMs: milliseconds })
                .optional()
                .describe("When it ends the attacks early; absent if it does not"),
        }),
    ),
    actions: z.array(actionSchema),
    window: z.object({ durationMs: milliseconds, graceMs: milliseconds }),
    deadlineMs: milliseconds,
    onFailure: z.enum(["report", "fail"]),
    reports: z.string(),
}) satisfies z.ZodType<Plan>;

const direction = z.literal("inward").describe("Into the targets; absent if the attack denies no connections there");

const conclusion = z.object({
    name: z.string(),
    run: z.string(),
    hypothesis: z.string(),
    attack: z.string().describe("The kinds of the attacks, comma-separated; `none` if nothing was attacked"),
    targets: z.array(z.string()).describe("`namespace/pod/container` of each"),
    verdict: z.enum(verdicts),
    code: z
        .enum(Object.keys(reasonCodes) as [ReasonCode, ...ReasonCode[]])
        .optional()
        .describe("Why it is `INCONCLUSIVE` or `ABORTED`: docs/troubleshooting.md explains each; absent otherwise"),
    reason: z.string().describe("The verdict in a sentence"),
    requests: z.int().nonnegative().describe("Of all checks"),
    successRate: z.string().describe("Share of good answers among the counted, as a percentage"),
    timeToFirstFailureMs: milliseconds.nullable().describe(`${since}; null if no answer was bad`),
    timeToStabilityMs: milliseconds.nullable().describe(`${since}; null if the last answer was bad`),
    established: z
        .array(
            z.object({
                attack: z.string().describe("Its name"),
                direction: direction.optional(),
                became: z
                    .string()
                    .describe("`cut after 3 s`, `survived`, `survived until closed after 62 s` or `unknown`"),
                reason: z.string().optional().describe("Why that is unknown"),
            }),
        )
        .optional()
        .describe("What became of connections that were established before each attack; absent if one is not proven"),
    outwardUnproven: z
        .array(z.object({ attack: z.string().describe("Its name"), pods: z.array(z.string()) }))
        .optional()
        .describe("Pods of which it is not proven that they reach nobody: they have no tool; absent if there are none"),
    checks: z
        .array(
            z.object({ name: z.string(), held: z.boolean(), requests: z.int().nonnegative(), successRate: z.string() }),
        )
        .describe("Result of each check of which it is known whether it held"),
    actions: z.array(z.string()).describe("Actions done, in words"),
    journal: z.string().describe("Path of the run's journal; its picture and page are beside it"),
}) satisfies z.ZodType<Conclusion>;

const answer = z.object({
    at: instant.describe("When it was asked"),
    latencyMs: milliseconds,
    good: z.boolean(),
    status: z.int().optional().describe("HTTP status; absent if there was no answer"),
    problem: z.string().optional().describe("Why the answer is not good, in a sentence"),
    unseen: z.literal(true).optional().describe("The look did not see the application, so nothing is known about that"),
});

const target = z.object({
    namespace: z.string(),
    pod: z.string(),
    uid: z.string(),
    container: z.string(),
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
    recoveredAfterMs: milliseconds.describe("From then until every check was steady"),
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

const counts = z
    .object({
        requests: z.int().describe("Requests in HTTP/1.1, and connections of anything else"),
        faulted: z.int().describe("Those that were delayed or aborted"),
        unfaultable: z.int().describe("Those that a status was to answer, and could not"),
    })
    .describe("What reached the targets, of an attack that counts it; absent if that is not known");

const attack = z.object({
    name: z.string(),
    provenAt: instant.optional().describe("When it was proven; absent if it never was"),
    targets: z.array(target),
    kills: z.array(kill).optional().describe("The deleted pods, if the attack deletes pods"),
    established: established.optional(),
    counts: counts.optional(),
    withoutTool: z
        .array(z.string())
        .optional()
        .describe("Pods of the targets in which no container has a tool: nothing was tried from within them"),
});

const aborted = z.object({
    check: z.string().describe("Name of the check whose success rate was too low"),
    afterMs: milliseconds.describe(since),
    rate: z.string().describe("Share of good answers in the last `overMs`, as a percentage"),
    answers: z.int().nonnegative().describe("Number of answers that the rate rests on"),
    below: z.string().describe("The limit, as a percentage"),
    overMs: milliseconds,
    endedAt: instant.optional().describe("When the attacks had ended; absent if they could not be ended"),
}) satisfies z.ZodType<Aborted>;

const checked = z.object({ name: z.string(), answers: z.array(answer).describe("In the order of asking") });

const performed = z.object({
    action: z.string(),
    begunAt: instant,
    endedAt: instant,
    problem: z.string().optional().describe("Why it failed"),
});

/** The form of journals, which other versions of the package may have changed. */
export const journalVersion = 5;

/** Everything that a run saw, kept as a file. Times are milliseconds since the epoch unless they say otherwise. */
export const journalSchema = z.object({
    schema: z.literal(journalVersion),
    plan,
    conclusion,
    startedAt: instant,
    attackedAt: instant.optional().describe("When all attacks were proven; absent if one never was, or there is none"),
    aborted: aborted.optional().describe("Set if an abort rule ended the attacks early"),
    endedAt: instant.describe("When the check ended; the attacks last until they are undone, unless `aborted` is set"),
    attacks: z.array(attack),
    checks: z.array(checked),
    actions: z.array(performed),
    readiness: z
        .array(readiness)
        .describe("Of the pods in the default namespace: each pod's state at the start, then every change"),
    recovery: recovery
        .optional()
        .describe("Absent until the experiment is undone, or if the application was gone by then"),
});

export type Journal = z.infer<typeof journalSchema>;
export type ReadinessChange = z.infer<typeof readiness>;

/** The JSON Schema of journals, which `journal.schema.json` holds for other programs. */
export const journalJsonSchema = () => z.toJSONSchema(journalSchema);
