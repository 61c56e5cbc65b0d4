import * as z from "zod";
import { answerOf } from "./answer";
import { spoiledBySilence } from "./api-server";
import {
    carriesCredential,
    credentialIn,
    credentialInArguments,
    describeValueOf,
    storedInClear,
} from "../../values/credentials";
import { type CheckKind, type CheckSettings, checkSettingsSchema } from "./check-kind";
import { type Ended, runCommand } from "./run-command";
import { onOneLine, quoted, shortened } from "../../values/quoted";
import { refusing, refusingEntries } from "../../values/texts";

/** Runs a program on the machine of the update. */
export interface CommandCheck extends CheckSettings {
    kind: "command";
    /**
     * The program and its arguments, without a shell. A program with a slash is found from the folder of the update,
     * others in `PATH`. Never put secrets here.
     */
    command: string[];
    /** Exit code of a good run, 0 to 255. @default 0 */
    exitCode?: number;
    /** Variables that are added to the update's, which the program inherits. Never put secrets here. */
    env?: Record<string, string>;
}

const instead = "set a variable where the update runs, whose environment the program inherits";
const text = z.string().refine((one) => !one.includes("\0"), { error: "must not have a NUL character" });
const env = z.record(z.string(), text).superRefine(
    refusingEntries((name, value) => {
        const what = carriesCredential(name) ? describeValueOf(name) : credentialIn(value);
        const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
        return [
            !isName && "not the name of a variable; allowed: such as LIMIT_MS",
            what && storedInClear(what, instead),
        ];
    }),
);

export const command: CheckKind<CommandCheck> = {
    examples: [{ kind: "command", command: ["./check.sh"] }],
    schema: z.strictObject({
        kind: z.literal("command"),
        command: z
            .array(text)
            .nonempty({ error: 'missing; allowed: a program and its arguments, such as ["./check.sh", "orders"]' })
            .refine(([program]) => program?.trim() !== "", {
                error: 'the program is empty; allowed: such as ["./check.sh", "orders"]',
            })
            .superRefine(
                refusing((all) => {
                    const what = credentialInArguments(all);
                    return what && storedInClear(what, instead);
                }),
            ),
        exitCode: z.int().min(0).max(255).optional(),
        env: env.optional(),
        ...checkSettingsSchema,
    }),
    name: nameOf,
    describeSuccess: (check) => `runs of ${nameOf(check)} ended with exit code ${check.exitCode ?? 0}`,
    isTrial: true,
    showsLatency: true,
    overNetwork: true,
    rights: () => [],
    async probe({ command: [program, ...args], exitCode = 0, env }, { pulse }, timeoutMs) {
        const begun = performance.now();
        const answer = await answerOf(async (signal) => {
            const ended = await runCommand(program!, args, env, signal);
            return { problem: ended.exitCode === exitCode ? undefined : problemWith(ended, exitCode) };
        }, timeoutMs);
        // The program may use the network, so a stall of this machine's network may have made it fail.
        const isSpoiled = !answer.good && !answer.unseen && pulse?.wasSilentSince(begun);
        return isSpoiled ? spoiledBySilence(answer) : answer;
    },
};

function nameOf({ command }: CommandCheck): string {
    return shortened(command.join(" "), 60);
}

function problemWith({ exitCode, signal, lastLine }: Ended, wanted: number): string {
    const how = signal === undefined ? `exit code ${exitCode} (required: ${wanted})` : `ended by ${signal}`;
    return onOneLine(lastLine) === "" ? how : `${how}: ${quoted(lastLine, 200)}`;
}
