import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { actionSchema } from "./actions/schema";
import { attackSchema } from "./attacks/schema";
import { checkSchema } from "./checks/schema";
import { upgraded } from "./journalVersions";
import type { Plan } from "./plan";
import { verdicts } from "./verdict";

/** Milliseconds since the epoch. */
const instant = z.int().nonnegative();
/** A length of time in milliseconds. */
const milliseconds = z.number().nonnegative();

const radius = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("count"), containers: z.int().positive() }),
    z.object({ kind: z.literal("share"), share: z.number().positive().max(1) }),
    z.object({ kind: z.literal("all") }),
]);
const share = z.number().positive().max(1);

const plan = z.object({
    experiment: z.string(),
    run: z.string(),
    hypothesis: z.string(),
    context: z.string(),
    clusterName: z.string(),
    shopNamespace: z.string(),
    area: z.string(),
    namespace: z.string(),
    attacks: z.array(z.object({ name: z.string(), target: z.string(), radius, attack: attackSchema })),
    checks: z.array(
        z.object({
            name: z.string(),
            check: checkSchema,
            intervalMs: milliseconds,
            timeoutMs: milliseconds,
            successRate: share,
        }),
    ),
    actions: z.array(actionSchema),
    window: z.object({ durationMs: milliseconds, graceMs: milliseconds }),
    deadlineMs: milliseconds,
    onFailure: z.enum(["report", "fail"]),
}) satisfies z.ZodType<Plan>;

const conclusion = z.object({
    name: z.string(),
    run: z.string(),
    hypothesis: z.string(),
    attack: z.string().describe("The kinds of the attacks, comma-separated"),
    targets: z.array(z.string()).describe("`namespace/pod/container` of each"),
    verdict: z.enum(verdicts),
    reason: z.string().describe("The verdict in a sentence"),
    requests: z.int().nonnegative().describe("Of all checks"),
    successRate: z.string().describe("Share of good answers among those counted, as a percentage"),
    timeToFirstFailureMs: milliseconds.nullable().describe("Since the attack took hold; null where no answer was bad"),
    timeToStabilityMs: milliseconds
        .nullable()
        .describe("Since the attack took hold; null where the last answer was bad"),
    checks: z
        .array(
            z.object({ name: z.string(), held: z.boolean(), requests: z.int().nonnegative(), successRate: z.string() }),
        )
        .describe("What each check came to; empty where nothing is known"),
    actions: z.array(z.string()).describe("What was done meanwhile, in words"),
    journal: z.string().describe("The run's journal, below the project; its picture and page lie beside it"),
});

/** What a run came to, as the stack's output shows it. */
export type Conclusion = z.infer<typeof conclusion>;

/** What a run came to, under the name, the hypothesis and the journal that its plan gives it. */
export function conclude(
    plan: Plan,
    startedAt: number,
    found: Omit<Conclusion, "name" | "run" | "hypothesis" | "journal">,
): Conclusion {
    const { experiment: name, run, hypothesis } = plan;
    return { name, run, hypothesis, ...found, journal: journalPath(plan, startedAt) };
}

const answer = z.object({
    at: instant.describe("When it was asked"),
    latencyMs: milliseconds,
    good: z.boolean(),
    status: z.int().optional().describe("HTTP status; absent where there was no answer"),
    problem: z.string().optional().describe("Why it is not good, in a sentence"),
    unseen: z
        .literal(true)
        .optional()
        .describe("It was the API server that did not answer, which says nothing of the shop"),
});

const target = z.object({
    namespace: z.string(),
    pod: z.string(),
    uid: z.string(),
    container: z.string(),
    containerId: z.string(),
    address: z.string(),
    ports: z.array(z.int()),
});

const readiness = z.object({ at: instant, pod: z.string(), ready: z.boolean() });

const kill = z.object({ at: instant.describe("By the cluster's clock"), pod: z.string(), uid: z.string() });

const recovery = z.object({
    undoneAt: instant.describe("When nothing was left of the attack"),
    recoveredAfterMs: milliseconds.describe("From then until every check was content, three times in a row"),
});

const attack = z.object({
    name: z.string(),
    provenAt: instant.optional().describe("Since when it is shown to work; absent where it never was"),
    targets: z.array(target),
    kills: z.array(kill).optional().describe("The pods that were deleted, where that is the attack"),
});

const checked = z.object({ name: z.string(), answers: z.array(answer).describe("In the order of asking") });

const performed = z.object({
    action: z.string(),
    begunAt: instant,
    endedAt: instant,
    problem: z.string().optional().describe("Why it could not be done"),
});

/** All that a run saw, kept as a file. Times are milliseconds since the epoch unless they say otherwise. */
export const journalSchema = z.object({
    schema: z.literal(2),
    plan,
    conclusion,
    startedAt: instant,
    attackedAt: instant.optional().describe("Since when all attacks are shown to work; absent where one never was"),
    endedAt: instant.describe("When the check ended; the attacks last until they are undone"),
    attacks: z.array(attack),
    checks: z.array(checked),
    actions: z.array(performed),
    readiness: z
        .array(readiness)
        .describe("Of the pods where the shop is: how each was at the beginning, then every change"),
    recovery: recovery
        .optional()
        .describe("Absent until the experiment is undone, and where the shop was gone by then"),
});

export type Journal = z.infer<typeof journalSchema>;
export type ReadinessChange = z.infer<typeof readiness>;

/** The JSON Schema of journals, which `journal.schema.json` holds for other programs. */
export const journalJsonSchema = () => z.toJSONSchema(journalSchema);

/** Where the journals of runs are, with their pictures and pages. */
export const reportsFolder = "reports";

/** Where a run's journal goes: `reports/hot-deals-blackhole-1-20261121T101500Z.json`. */
export function journalPath({ experiment, run }: Plan, startedAt: number): string {
    const time = new Date(startedAt).toISOString().replace(/[-:]|\.\d+/g, "");
    const readableRun = run.replace(/[^\w.-]+/g, "-").slice(0, 40);
    return join(reportsFolder, `${experiment}-${readableRun}-${time}.json`);
}

/** Writes a journal to its place. @throws ZodError where it is not as its schema says */
export function writeJournal(journal: Journal): void {
    journalSchema.parse(journal);
    mkdirSync(reportsFolder, { recursive: true });
    // At one stroke: one that is written anew, with its recovery, must not be lost where that is cut short.
    const unfinished = `${journal.conclusion.journal}.unfinished`;
    writeFileSync(unfinished, `${JSON.stringify(journal, undefined, 2)}\n`);
    renameSync(unfinished, journal.conclusion.journal);
}

/** All journals that were kept, those of earlier versions too, the newest first. Files that are none are passed over. */
export function keptJournals(folder = reportsFolder): Journal[] {
    const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".json")) : [];
    const journals = files.flatMap((file) => {
        const read = journalSchema.safeParse(upgraded(parsed(readFileSync(join(folder, file), "utf8"))));
        return read.success ? [read.data] : [];
    });
    return journals.sort((a, b) => b.startedAt - a.startedAt);
}

/** The journal of the last run of a plan; undefined where none was kept. */
export function lastJournalOf(plan: Plan): Journal | undefined {
    return keptJournals().find((journal) => isDeepStrictEqual(journal.plan, plan));
}

function parsed(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}
