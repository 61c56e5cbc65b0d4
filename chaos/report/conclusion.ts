import * as z from "zod";
import { momentText } from "../kinds/checks/abort";
import { changeSchema } from "../kinds/checks/change-limits";
import { boundSchema } from "../kinds/checks/confidence";
import type { RunAttack } from "../definition/plan";
import { type ReasonCode, reasonCodes } from "../values/reasons";
import { milliseconds } from "../values/texts";
import { verdicts } from "./verdict";

export const direction = z
    .enum(["inward", "outward"])
    .describe("Into the targets or out of them; absent if the attack denies no connections");

const adviceSchema = z.object({
    seen: z.string().describe("What was seen, and what it made fail"),
    change: z.string().describe("What to change, in a sentence without a period"),
    command: z.string().describe("The change as a command, as it can be pasted"),
    experiment: z.string().describe("How to show it: the same run again"),
});

/** What would have made a run pass that FAILED. */
export type Advice = z.infer<typeof adviceSchema>;

/** The result of a run, as the stack's output shows it. Times are milliseconds. */
export const conclusionSchema = z.object({
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
    timeToFirstFailureMs: milliseconds.nullable().describe(`${momentText}; null if no answer was bad`),
    timeToStabilityMs: milliseconds.nullable().describe(`${momentText}; null if the last answer was bad`),
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
        .describe("Pods in which nothing could be tried, so it is not proven that they reach nobody; absent if none"),
    checks: z
        .array(
            z.object({
                name: z.string(),
                held: z.boolean(),
                requests: z.int().nonnegative(),
                successRate: z.string(),
                bound: boundSchema
                    .optional()
                    .describe(
                        "What the answers show; absent if the check reads a state, or an abort rule ended the run",
                    ),
                changes: z
                    .array(changeSchema)
                    .optional()
                    .describe("How the answers differ from those before the attack; absent if nothing is compared"),
            }),
        )
        .describe("Result of each check of which it is known whether it held"),
    actions: z.array(z.string()).describe("Actions done, in words"),
    advice: z
        .array(adviceSchema)
        .optional()
        .describe("What would have passed, at most three; absent if it is not `FAILED`, or nothing follows"),
    lasts: z
        .string()
        .optional()
        .describe("Until when the attack, or what was scaled, stays after the verdict, and what ends it; else absent"),
    journal: z.string().describe("Path of the run's journal; its picture and page are beside it"),
});

export type Conclusion = z.infer<typeof conclusionSchema>;
export type ConcludedEstablished = NonNullable<Conclusion["established"]>[number];
export type ConcludedCheck = Conclusion["checks"][number];
type Unproven = NonNullable<Conclusion["outwardUnproven"]>;

/**
 * Pods in which nothing can be tried, so it is not proven that they reach no other pod: the experiment accepts that.
 */
export const unprovenOutward = (attacks: readonly RunAttack[]): Unproven =>
    attacks.flatMap(({ name: attack, chosen: { withoutTool: pods } }) => (pods ? [{ attack, pods }] : []));

export function describeUnproven(unproven: Unproven = []): string | undefined {
    const pods = unproven.flatMap((one) => one.pods);
    return pods.length === 0 ? undefined : `outward was not proven: nothing could be tried in ${pods.join(", ")}`;
}

export const withNotes = (reason: string, notes: readonly string[]): string =>
    notes.reduce(
        (told, note) => `${told.replace(/(?<![.!?])$/, ".")} ${note.charAt(0).toUpperCase()}${note.slice(1)}.`,
        reason,
    );

/** What would have passed, and how to show it, for people. */
export const adviceLines = ({ advice = [] }: Pick<Conclusion, "advice">): string[] =>
    advice.flatMap(({ seen, change, command, experiment }) => [
        `What was seen: ${seen}`,
        `What may help: ${change}: ${command}`,
        `To show it: ${experiment}`,
    ]);
