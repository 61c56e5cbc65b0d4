/**
 * What `pulumi destroy` does first: looks whether the cluster and the namespaces are still the stack's, and fails if
 * they are not. An update does so for the namespaces that it will delete, and prints what the next one must know.
 *
 * The stack's state has this program, so it needs neither this folder nor the packages in it. It asks the API server by
 * itself: with a client of the library it would be two and a half times as large.
 */
import {
    HttpMethod,
    IsomorphicFetchHttpLibrary,
    type KubeConfig,
    RequestContext,
    type V1Namespace,
} from "@kubernetes/client-node";
import { loadKubeconfig, requireSupported } from "../../../chaos/cluster/kubeconfig";
import { withoutCredentials } from "../../without-credentials";
import {
    type GuardedStack,
    guardedVariable,
    inUpdate,
    movedVariable,
    UnreachableError,
    whyNotDestroy,
    whyNotLeave,
} from "./refusal";

const timeoutMs = 10_000;

/** @throws Error if there is no such context, or it cannot be used */
function kubeconfigFor(context: string): KubeConfig {
    const kubeconfig = loadKubeconfig();
    if (kubeconfig.getContextObject(context) === null) throw new Error(`the kubeconfig has no context "${context}"`);
    requireSupported(kubeconfig, context);
    kubeconfig.setCurrentContext(context);
    return kubeconfig;
}

/** Requests namespaces. Rejects with an `UnreachableError` if nobody answers, or nobody who knows the user. */
function namespacesBy(kubeconfig: KubeConfig): (name: string) => Promise<V1Namespace | undefined> {
    const server = kubeconfig.getCurrentCluster()!.server.replace(/\/$/, "");
    const library = new IsomorphicFetchHttpLibrary();
    return async (name) => {
        const request = new RequestContext(`${server}/api/v1/namespaces/${name}`, HttpMethod.GET);
        request.setSignal(AbortSignal.timeout(timeoutMs));
        const send = async () => {
            await kubeconfig.applySecurityAuthentication(request);
            return library.send(request).toPromise();
        };
        const { httpStatusCode: status, body } = await send().catch((error: Error) => {
            throw new UnreachableError(error.message);
        });
        if (status === 404) return undefined;
        const text = await body.text();
        if (status === 200) return JSON.parse(text) as V1Namespace;
        const [, message = text.slice(0, 300)] = /"message":"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
        const reason = `the API server answered with status ${status}: ${message}`;
        throw status === 401 ? new UnreachableError(reason) : new Error(reason);
    };
}

async function main(): Promise<string | undefined> {
    const guarded = JSON.parse(process.env[guardedVariable]!) as GuardedStack;
    const open = async () => namespacesBy(kubeconfigFor(guarded.context));
    let opened: ReturnType<typeof open> | undefined;
    const read = async (name: string) => {
        opened ??= open().catch((error: Error) => {
            throw new UnreachableError(error.message);
        });
        return (await opened)(name);
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
