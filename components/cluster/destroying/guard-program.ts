/**
 * What `pulumi destroy` does first: looks whether the cluster, the namespaces and what the stack has outside of them
 * are still the stack's, and fails if they are not. An update does so for what it will delete, and prints what the next
 * one must know.
 *
 * The stack's state has this program, so it needs neither this folder nor the packages in it.
 */
import { withoutCredentials } from "../../../chaos/values/without-credentials";
import { readerFor } from "../reading";
import { type GuardedStack, guardedVariable, inUpdate, movedVariable, whyNotDestroy, whyNotLeave } from "./refusal";

async function main(): Promise<string | undefined> {
    const guarded = JSON.parse(process.env[guardedVariable]!) as GuardedStack;
    const read = readerFor(guarded.context);
    if (process.argv.includes(inUpdate)) {
        const printed = process.env.PULUMI_COMMAND_STDOUT;
        const reason = printed ? await whyNotLeave(JSON.parse(printed) as GuardedStack, guarded, read) : undefined;
        if (reason !== undefined) return reason;
        // The process must not end before it is written.
        await new Promise((written) => process.stdout.write(process.env[guardedVariable]!, written));
        return undefined;
    }
    const { PULUMI_K8S_DELETE_UNREACHABLE: unreachable, [movedVariable]: movedTo } = process.env;
    return whyNotDestroy(guarded, read, { unreachable: unreachable === "true", movedTo });
}

/** Errors of a connection have the server's address, in which there may be a password. */
const fail = (reason: string) => process.stderr.write(`${withoutCredentials(reason)}\n`, () => process.exit(1));

main().then(
    (reason) => (reason === undefined ? process.exit(0) : fail(reason)),
    (error: Error) => fail(error.message),
);
