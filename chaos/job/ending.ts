import type { Through } from "../attacks/kind";
import type { V1NetworkPolicy, V1Service } from "@kubernetes/client-node";
import { restoring, type Scalable } from "../actions/scaling";
import { bodyOf, get, listed, patch, remove } from "./api";
import { fieldManager, labels, runLabels, without } from "../cluster/labels";
import { patchUntilDone } from "../cluster/patching";
import { nextRestoring as nextPointingBack, noteOf } from "../fault/pointing";
import { exemptingRun, nextRestoring } from "../policies/exemption";
import { selectingNobody, witnessPrefix } from "../policies/witness-access";
import { inTurns } from "../in-turns";
import type { JobAttack } from "./protocol";
import { isFault } from "./proxy-look";
import { labeledPods } from "./witnessing";

/** When each attack's object was first seen, by this node's clock. */
const firstSeen = new Map<string, number>();

/** Whether an attack has begun and its deadline has not passed. */
export async function lasts(path: string, deadlineMs: number): Promise<boolean> {
    const created = await creationOf(path);
    return created !== undefined && Date.now() < created + deadlineMs;
}

/** When the first of the attacks' objects was created. Undefined while there is none. */
export async function attackedSince(attacks: readonly JobAttack[]): Promise<number | undefined> {
    const created = await Promise.all(attacks.map(({ path }) => creationOf(path)));
    const known = created.filter((at) => at !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
}

/**
 * When an object was created, in milliseconds since the epoch. Undefined while it does not exist. Not later than it was
 * first seen: if this node's clock is behind the API server's, the difference would prolong the attack.
 */
async function creationOf(path: string): Promise<number | undefined> {
    const { status, body } = await get(path);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`the attack cannot be read: ${status}`);
    const { metadata } = JSON.parse(body) as { metadata: { creationTimestamp: string } };
    const seen = firstSeen.get(path) ?? Date.now();
    firstSeen.set(path, seen);
    return Math.min(Date.parse(metadata.creationTimestamp), seen);
}

/** Calls to the API server at a time: each has a connection of its own. */
const maxCalls = 16;
const maxTold = 5;

/**
 * Removes the attacks' objects and the targets' labels, and restores the policies that let go of these, the Services
 * that point to proxies, and what the experiment scaled. All of it is tried, even if a part fails.
 *
 * @throws Error with what failed
 */
export async function endAttacks(
    namespace: string,
    run: string,
    attacks: readonly JobAttack[],
    scaled: readonly string[],
): Promise<void> {
    const failures: string[] = [];
    const attempt = (step: Promise<unknown>) => step.catch((error: Error) => void failures.push(error.message));
    const isKill = ({ killing }: JobAttack) => killing !== undefined;
    const allRemoved = (some: readonly JobAttack[]) => some.map(({ path }) => attempt(removeAttack(path)));
    const allUnlabeled = async () => {
        // Without attacks there are no labels, nor the right to look for them. A pod may have lost one of them.
        const keys = attacks.length === 0 ? [] : [labels.target, labels.attacked];
        const names = new Set<string>();
        const find = async (key: string) => {
            for (const { name } of await labeledPods(namespace, attacks, key)) names.add(name);
        };
        await Promise.all(keys.map((key) => attempt(find(key))));
        await inTurns([...names], maxCalls, (name) => attempt(removeLabels(namespace, name)));
    };
    await Promise.all([...allRemoved(attacks.filter(isKill)), allUnlabeled()]);
    // Labels first: other policies would still let go of pods that no attack cuts off any more.
    const others = attacks.filter((attack) => !isKill(attack));
    await Promise.all([
        ...allRemoved(others.filter((attack) => !isFault(attack))),
        ...others.filter(isFault).map((attack) => attempt(endFault(namespace, run, attack))),
        ...(others.length > 0 ? [attempt(restorePolicies(namespace, run, attempt))] : []),
        ...scaled.map((name) => attempt(restore(namespace, name))),
    ]);
    if (failures.length === 0) return;
    const more = failures.length > maxTold ? `; and ${failures.length - maxTold} more` : "";
    throw new Error(
        `not everything is undone yet, which is tried again: ${failures.slice(0, maxTold).join("; ")}${more}`,
    );
}

async function removeAttack(path: string): Promise<void> {
    bodyOf(await remove(path), `${path} cannot be deleted`);
}

async function removeLabels(namespace: string, pod: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}`;
    bodyOf(await patch(path, without(runLabels)), `the labels of ${pod} cannot be removed`);
}

/**
 * Restores the Service whose place a fault's proxy has taken, then removes the proxy, which still passes on what it
 * has. A conflicting change is rejected (409), and all is tried again.
 */
async function endFault(namespace: string, run: string, { path, through }: JobAttack & { through: Through }) {
    const at = (name: string) => `/api/v1/namespaces/${namespace}/services/${name}`;
    const { service } = through;
    const read = async (name: string) => {
        const answer = await get(at(name));
        const text = bodyOf(answer, `Service ${name} cannot be read`);
        return answer.status === 404 ? undefined : (JSON.parse(text) as V1Service);
    };
    const proxy = path.slice(path.lastIndexOf("/") + 1);
    const kept = (await read(proxy))?.spec?.selector;
    // Another run may have begun since.
    const isOwn = (current: V1Service) => (noteOf(current)?.run ?? run) === run;
    await patchUntilDone(
        await read(service),
        (current) => (isOwn(current) ? nextPointingBack(current, kept) : undefined),
        async (body) => {
            const answer = await patch(`${at(service)}?fieldManager=${fieldManager}`, body);
            const text = bodyOf(answer, `Service ${service} cannot be restored`);
            return answer.status === 404 ? undefined : (JSON.parse(text) as V1Service);
        },
    );
    await removeAttack(path);
}

/**
 * Restores the policies that let go of a run's targets, and makes those select no pod any more that admit the witness:
 * the Job may not delete them. A conflicting change is rejected (409), and all is tried again.
 *
 * @param attempt tries the rest, too, if one fails
 */
async function restorePolicies(
    namespace: string,
    run: string,
    attempt: (step: Promise<unknown>) => Promise<unknown>,
): Promise<void> {
    const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`;
    const patched = async (name: string, body: object): Promise<V1NetworkPolicy | undefined> => {
        const answer = await patch(`${path}/${name}?fieldManager=${fieldManager}`, body);
        const text = bodyOf(answer, `NetworkPolicy ${name} cannot be restored`);
        return answer.status === 404 ? undefined : (JSON.parse(text) as V1NetworkPolicy);
    };
    const restored = async (policy: V1NetworkPolicy) => {
        const name = policy.metadata!.name!;
        if (name.startsWith(witnessPrefix(run))) return patched(name, selectingNobody);
        return patchUntilDone(
            policy,
            (current) => (exemptingRun(current) === run ? nextRestoring(current) : undefined),
            (body) => patched(name, body),
        );
    };
    for await (const policy of listed<V1NetworkPolicy>(path, "the NetworkPolicies cannot be listed"))
        await attempt(restored(policy));
}

/** Restores a Deployment's replicas. A conflicting change is rejected (409), and `endAttacks` is tried again. */
async function restore(namespace: string, name: string): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
    const read = await get(path);
    if (read.status === 404) return;
    const restored = restoring(JSON.parse(bodyOf(read, `Deployment ${name} cannot be read`)) as Scalable);
    if (restored) bodyOf(await patch(path, restored), `Deployment ${name} cannot be scaled back`);
}
