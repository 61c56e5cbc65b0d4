/**
 * What `pulumi destroy` does first: looks whether the cluster, the namespaces and what the stack has outside of them
 * are still the stack's, and fails if they are not. An update does so for what it will delete, and prints what the next
 * one must know.
 *
 * The stack's state has this program, so it needs neither this folder nor the packages in it.
 */
import { ApiException, type KubeConfig } from "@kubernetes/client-node";
import { loadKubeconfig, requireSupported } from "../../../chaos/cluster/kubeconfig";
import { withoutCredentials } from "../../without-credentials";
import { type Reader, readerOf } from "../reading";
import {
    type GuardedStack,
    guardedVariable,
    inUpdate,
    movedVariable,
    UnreachableError,
    whyNotDestroy,
    whyNotLeave,
} from "./refusal";

/** @throws Error if there is no such context, or it cannot be used */
function kubeconfigFor(context: string): KubeConfig {
    const kubeconfig = loadKubeconfig();
    if (kubeconfig.getContextObject(context) === null) throw new Error(`the kubeconfig has no context "${context}"`);
    requireSupported(kubeconfig, context);
    kubeconfig.setCurrentContext(context);
    return kubeconfig;
}

/** What went wrong: an `UnreachableError` if nobody answers, or nobody who knows the user. */
function problemOf(error: unknown): Error {
    if (!(error instanceof ApiException)) return new UnreachableError((error as Error).message);
    const { code: status, body } = error as ApiException<string>;
    const [, message = body.slice(0, 300)] = /"message":"((?:[^"\\]|\\.)*)"/.exec(body) ?? [];
    const reason = `the API server answered with status ${status}: ${message}`;
    return status === 401 ? new UnreachableError(reason) : new Error(reason);
}

async function main(): Promise<string | undefined> {
    const guarded = JSON.parse(process.env[guardedVariable]!) as GuardedStack;
    let opened: Reader | undefined;
    const read: Reader = async (path) => {
        try {
            opened ??= readerOf(kubeconfigFor(guarded.context));
            return await opened(path);
        } catch (error) {
            throw problemOf(error);
        }
    };
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
