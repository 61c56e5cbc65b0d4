import { endNoteIn, holderIn, leaseEndsAt, leasePath, stopCommand } from "../../../chaos/lease/lease-record";
import { belongsTo, handOver, isMarkedBy, type Owner } from "../marks";
import { type Reader, UnreachableError } from "../reading";

/** What a stack knows of its cluster, and keeps in its state for `pulumi destroy`, which does not run the program. */
export interface GuardedStack extends Owner {
    /** Of the namespace kube-system, when the stack was updated last. */
    uid: string;
    /** The kubeconfig context, which the provider uses too. */
    context: string;
    namespaces: string[];
    /** What the stack has outside of its namespaces, and marks as its own. @default nothing */
    objects?: readonly GuardedObject[];
    /** The namespace that the experiment attacks, enabled or not. @default there is no experiment */
    attacked?: string;
}

export interface GuardedObject {
    /** In the API, such as `/apis/rbac.authorization.k8s.io/v1/clusterroles/agent`. */
    path: string;
    /** As kubectl names it: `["ClusterRole.v1.rbac.authorization.k8s.io", "agent"]`. */
    words: string[];
}

/** An object in a sentence: `RoleBinding.v1.rbac.authorization.k8s.io kube-system/agent`. */
const shown = ({ words }: GuardedObject) =>
    words[0] === "--namespace" ? `${words[2]} ${words[1]}/${words[3]}` : words.join(" ");

const namespaceObject = (name: string): GuardedObject => ({
    path: `/api/v1/namespaces/${name}`,
    words: ["namespace", name],
});

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

/**
 * Why a stack must not be destroyed as things are, and the commands that resolve it: its objects would be deleted by
 * their names in a cluster that is another one by now, or in a namespace that is somebody else's, or are somebody
 * else's. Undefined if everything is still its own, or gone.
 *
 * The stack's name is that of its last update: Pulumi does not say how it is called now.
 *
 * @param read an object of the cluster. May reject with an `UnreachableError`
 */
export async function whyNotDestroy(
    { uid, context, stack, identity, namespaces, objects = [], attacked }: GuardedStack,
    read: Reader,
    { unreachable = false, movedTo }: Allowed = {},
): Promise<string | undefined> {
    const stopped = (reason: string, ...lines: (string | undefined)[]) =>
        [
            `Stopped before anything was deleted: ${reason}.`,
            ...lines.flatMap((line) => (line === undefined ? [] : `  ${line}`)),
            `  ${stack} was the stack's name at its last update; if it was renamed since, name it as it is now`,
        ].join("\n");
    const forget = `npx pulumi stack rm ${stack} --force --preserve-config`;
    const ifGone = `If the stack's cluster no longer exists, forget the stack, which deletes nothing: ${forget}`;
    const rename = `npx pulumi config set kube.context NAME --stack ${stack} && npx pulumi up --stack ${stack}`;
    const goesOn =
        attacked &&
        `If its experiment is enabled, an attack on namespace ${attacked} of the stack's cluster goes on until its ` +
            "deadline at most";
    const guarded = [...namespaces.map(namespaceObject), ...objects];
    let found: Awaited<ReturnType<Reader>>[];
    try {
        found = await Promise.all([namespaceObject("kube-system"), ...guarded].map(({ path }) => read(path)));
    } catch (error) {
        const isUnreachable = error instanceof UnreachableError;
        if (isUnreachable && unreachable) return undefined;
        return stopped(
            `the cluster of context "${context}" cannot be asked whether it is still this stack's: ` +
                (error as Error).message.replace(/\.$/, ""),
            "If it exists, start it or log in to it, with the KUBECONFIG of the last update, and repeat this",
            `If its context has another name by now, tell the stack, and repeat this: ${rename}`,
            ifGone,
            goesOn,
        );
    }
    const [system, ...own] = found;
    const others = guarded.flatMap((object, index) => {
        const { metadata } = own[index] ?? {};
        const isOthers = metadata !== undefined && !isMarkedBy(metadata.annotations, { stack, identity });
        return isOthers ? { ...object, marks: metadata.annotations, shown: shown(object) } : [];
    });
    const now = system?.metadata?.uid;
    if (now !== uid && (now === undefined || now !== movedTo)) {
        // An update that moves a stack tells this at its end: one that was interrupted did not.
        const isMoved = now !== undefined && own.some((one) => one !== undefined) && others.length === 0;
        return stopped(
            `context "${context}" leads to another cluster than the one that this stack was made in (uids of ` +
                `kube-system: ${now ?? "none"} and ${uid})`,
            "If the stack's cluster still exists, repeat this with the KUBECONFIG of the last update",
            isMoved
                ? `If an update has moved the stack there: ${movedVariable}=${now} npx pulumi destroy --stack ${stack}`
                : undefined,
            ifGone,
            goesOn,
        );
    }
    if (others.length === 0) return undefined;
    const lines = others.map(({ path, words, marks, shown }) => {
        const command = handOver(words, marks, { stack, context });
        const all = /^\/api\/v1\/namespaces\/[^/]+$/.test(path) ? " with everything in it" : "";
        return `If this stack may delete ${shown}${all}: ${command}`;
    });
    const reasons = others.map(({ marks, shown }) => `${shown} ${belongsTo(marks, { stack })} by now`);
    return stopped(
        reasons.join(", and "),
        ...lines,
        `If not, forget the stack, which deletes nothing: ${forget}`,
        attacked && (await whatGoesOn({ identity, context, attacked }, read)),
    );
}

/** How to end the attacks that go on if the stack is not destroyed. Undefined if the stack's run is over. */
async function whatGoesOn(
    { identity, context, attacked }: Pick<GuardedStack, "identity" | "context"> & { attacked: string },
    read: Reader,
): Promise<string | undefined> {
    const stop = stopCommand({ context, namespace: attacked });
    const lease = await read(leasePath(attacked)).catch((error: Error) => error);
    if (lease instanceof Error)
        return `Its experiment may go on until its deadline. If the lease is its own, to end it: ${stop}`;
    const isOwn = lease !== undefined && holderIn(lease)?.endsWith(`/${identity}`);
    if (!isOwn || endNoteIn(lease) !== undefined) return undefined;
    // The deadline Job ends attacks, and may not write into the lease. Without a date, this machine's clock counts.
    if (lease.readAt! > leaseEndsAt(lease)) return undefined;
    return `Its experiment may go on until its deadline. To end it now: ${stop}`;
}

/**
 * The same for what an update is about to delete, since the stack has other namespaces or objects by now. Deletions
 * come last in an update, and not at all if something before fails.
 *
 * @param before what the last update has noted
 */
export async function whyNotLeave(before: GuardedStack, now: GuardedStack, read: Reader): Promise<string | undefined> {
    const namespaces = before.namespaces.filter((name) => !now.namespaces.includes(name));
    const objects = before.objects?.filter(({ path }) => !now.objects?.some((kept) => kept.path === path));
    // What the stack had in a cluster that it left was checked, and deleted, before this one got anything.
    if (namespaces.length + (objects?.length ?? 0) === 0 || before.uid !== now.uid) return undefined;
    return whyNotDestroy({ ...now, namespaces, objects }, read);
}
