import { V1MicroTime, type V1Lease } from "@kubernetes/client-node";
import { type Cluster, orMissing, statusOf } from "../shared/kubernetes";
import { labels } from "../shared/labels";
import { type Plan, stackFromEnvironment } from "./plan";

/** A claim's name: one in a namespace. */
export const claimName = "chaos-shop-experiment";

/** What may go by between claiming a namespace and the attack, whose deadline begins with it. */
const preparationMs = 180_000;

/** Another stack's experiment has the namespace. */
export class ClaimedError extends Error {
    constructor(message: string) {
        super(message);
        this.name = "ClaimedError";
    }
}

/** Who runs an experiment: a stack, which takes its own claim up again, and undoes its own, from whatever machine. */
function ourselves({ shopNamespace }: Plan): string {
    return `stack ${stackFromEnvironment()} (its shop is in ${shopNamespace})`;
}

/**
 * Claims a namespace for one experiment at a time: of two that begin at once, each within its radius, both together
 * would affect more than either was allowed. A claim is a Lease, which the API server lets only one create. It ends when
 * the experiment is undone, or when its attack must have ended by the deadline.
 *
 * @throws ClaimedError that says who has it
 */
export async function claim(cluster: Cluster, plan: Plan): Promise<void> {
    const { namespace, experiment, deadlineMs } = plan;
    const now = new V1MicroTime();
    const holderIdentity = ourselves(plan);
    const body: V1Lease = {
        metadata: { name: claimName, namespace, annotations: { [labels.experiment]: experiment } },
        spec: {
            holderIdentity,
            acquireTime: now,
            renewTime: now,
            leaseDurationSeconds: Math.ceil((deadlineMs + preparationMs) / 1_000),
        },
    };
    if (await succeeds(cluster.coordination.createNamespacedLease({ namespace, body }))) return;
    const held = await read(cluster, namespace);
    if (held && !isOver(held) && held.spec!.holderIdentity !== holderIdentity) throw new ClaimedError(claimedBy(held));
    // Whoever else saw it end has changed it by now, or made it anew: then the API server refuses (409).
    const resourceVersion = held?.metadata!.resourceVersion;
    const taken = held
        ? cluster.coordination.replaceNamespacedLease({
              name: claimName,
              namespace,
              body: { ...body, metadata: { ...body.metadata, resourceVersion } },
          })
        : cluster.coordination.createNamespacedLease({ namespace, body });
    if (!(await succeeds(taken))) throw new ClaimedError(`another experiment has just begun in namespace ${namespace}`);
}

/** Gives the namespace free, where the claim is ours. */
export async function release(cluster: Cluster, plan: Plan): Promise<void> {
    const { namespace } = plan;
    const held = await read(cluster, namespace);
    if (held?.spec!.holderIdentity !== ourselves(plan)) return;
    const { uid, resourceVersion } = held.metadata!;
    await orMissing(
        cluster.coordination.deleteNamespacedLease({
            name: claimName,
            namespace,
            body: { preconditions: { uid, resourceVersion } },
        }),
    );
}

/** Who else has the namespace now, in a sentence: what is marked and attacked there is theirs. Undefined where nobody. */
export async function claimedByOthers(cluster: Cluster, plan: Plan): Promise<string | undefined> {
    const held = await read(cluster, plan.namespace);
    return held && !isOver(held) && held.spec!.holderIdentity !== ourselves(plan) ? claimedBy(held) : undefined;
}

function read(cluster: Cluster, namespace: string): Promise<V1Lease | undefined> {
    return orMissing(cluster.coordination.readNamespacedLease({ name: claimName, namespace }));
}

const endOf = ({ spec }: V1Lease) => new Date(spec!.renewTime!).getTime() + spec!.leaseDurationSeconds! * 1_000;
const isOver = (held: V1Lease) => Date.now() > endOf(held);

function claimedBy(held: V1Lease): string {
    const { namespace, annotations } = held.metadata!;
    return `${held.spec!.holderIdentity} runs ${annotations?.[labels.experiment]} in namespace ${namespace}, until it is disabled there, at the latest until ${new Date(endOf(held)).toISOString()}`;
}

async function succeeds(call: Promise<unknown>): Promise<boolean> {
    try {
        await call;
        return true;
    } catch (error) {
        if (statusOf(error) === 409) return false;
        throw error;
    }
}
