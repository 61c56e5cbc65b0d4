import type { V1Namespace } from "@kubernetes/client-node";
import { belongsTo, handOver, isMarkedBy, type Owner } from "../marks";

/** What a stack knows of its cluster, and keeps in its state for `pulumi destroy`, which does not run the program. */
export interface GuardedStack extends Owner {
    /** Of the namespace kube-system, when the stack was updated last. */
    uid: string;
    /** The kubeconfig context, which the provider uses too. */
    context: string;
    namespaces: string[];
}

/** The environment variable that has the `GuardedStack` as JSON. */
export const guardedVariable = "CHAOS_SHOP_GUARDED_STACK";

/** The environment variable by which a person says to which cluster, by its uid, an update has moved the stack. */
export const movedVariable = "CHAOS_SHOP_MOVED_TO";

/** The argument of the program in an update. */
export const inUpdate = "update";

/** What a person has allowed, by environment variables. */
export interface Allowed {
    /** Whether the provider was told to forget objects of a cluster that it cannot reach. @default false */
    unreachable?: boolean;
    /** See `movedVariable`. @default the stack was not moved */
    movedTo?: string;
}

/** The cluster could not be asked at all, so neither can the provider. */
export class UnreachableError extends Error {
    override readonly name = "UnreachableError";
}

/**
 * Why a stack must not be destroyed as things are, and the commands that resolve it: its objects would be deleted by
 * their names in a cluster that is another one by now, or in a namespace that is somebody else's. Undefined if
 * everything is still its own, or gone.
 *
 * @param read a namespace of the cluster; undefined if there is none. May reject with an `UnreachableError`
 */
export async function whyNotDestroy(
    { uid, context, stack, identity, namespaces }: GuardedStack,
    read: (name: string) => Promise<V1Namespace | undefined>,
    { unreachable = false, movedTo }: Allowed = {},
): Promise<string | undefined> {
    const stopped = (reason: string, ...lines: string[]) =>
        [`Stopped before anything was deleted: ${reason}.`, ...lines.map((line) => `  ${line}`)].join("\n");
    const forget = `npx pulumi stack rm ${stack} --force --preserve-config`;
    const ifGone = `If the stack's cluster no longer exists, forget the stack, which deletes nothing: ${forget}`;
    const to = `--stack ${stack}`;
    const rename = `npx pulumi config set kube.context NAME ${to} && npx pulumi up ${to}`;
    let found: (V1Namespace | undefined)[];
    try {
        found = await Promise.all(["kube-system", ...namespaces].map(read));
    } catch (error) {
        const isUnreachable = error instanceof UnreachableError;
        if (isUnreachable && unreachable) return undefined;
        return stopped(
            `the cluster of context "${context}" cannot be asked whether it is still this stack's: ` +
                (error as Error).message.replace(/\.$/, ""),
            "If it exists, start it or log in to it, with the KUBECONFIG of the last update, and repeat this",
            `If its context has another name by now, tell the stack, and repeat this: ${rename}`,
            ifGone,
        );
    }
    const [system, ...own] = found;
    const others = own.filter(
        (one) => one !== undefined && !isMarkedBy(one.metadata!.annotations, { stack, identity }),
    );
    const now = system?.metadata?.uid;
    if (now !== uid && (now === undefined || now !== movedTo)) {
        // An update that moves a stack tells this at its end: one that was interrupted did not.
        const isMoved = now !== undefined && own.some((one) => one !== undefined) && others.length === 0;
        return stopped(
            `context "${context}" leads to another cluster than the one that this stack was made in (uids of ` +
                `kube-system: ${now ?? "none"} and ${uid})`,
            "If the stack's cluster still exists, repeat this with the KUBECONFIG of the last update",
            ...(isMoved
                ? [`If an update has moved the stack there: ${movedVariable}=${now} npx pulumi destroy ${to}`]
                : []),
            ifGone,
        );
    }
    if (others.length === 0) return undefined;
    const lines = others.map((one) => {
        const { name, annotations } = one!.metadata!;
        const command = handOver(["namespace", name!], annotations, { stack, context });
        return `If this stack may delete namespace ${name} with everything in it: ${command}`;
    });
    const reasons = others.map(
        (one) => `namespace ${one!.metadata!.name} ${belongsTo(one!.metadata!.annotations, { stack })} by now`,
    );
    return stopped(reasons.join(", and "), ...lines, `If not, forget the stack, which deletes nothing: ${forget}`);
}

/**
 * The same for the namespaces that an update is about to delete, since the stack has others by now. Deletions come last
 * in an update, and not at all if something before fails.
 *
 * @param before what the last update has noted
 */
export async function whyNotLeave(
    before: GuardedStack,
    now: GuardedStack,
    read: (name: string) => Promise<V1Namespace | undefined>,
): Promise<string | undefined> {
    const namespaces = before.namespaces.filter((name) => !now.namespaces.includes(name));
    // In a cluster that the stack has left, everything was deleted before this one got anything.
    if (namespaces.length === 0 || before.uid !== now.uid) return undefined;
    return whyNotDestroy({ ...now, namespaces }, read);
}
