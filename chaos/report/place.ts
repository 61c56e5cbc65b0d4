import { podContext } from "../values/kubectl";
import type { Journal } from "./journal-schema";

type Place = Pick<Journal, "plan" | "namespaceUid">;

/**
 * Names the cluster of each run, for verdicts that must not be taken for those of another cluster.
 *
 * A context's name is what people know a cluster by; a namespace that is made again there stays the same place. Two
 * machines may have two names for a context: if both lead to the same namespace, its uid shows this, and the newest
 * name counts. What says nothing of a cluster is no name: the pod's own context, a plan without a context (that of a
 * kubeconfig from another stack), and the cluster's name in a plan, which is `kubernetes` or the stack's name. There
 * the uid distinguishes, if the account could read it.
 *
 * @param places the oldest first
 */
export function clusterNames(places: readonly Place[]): (place: Place) => string {
    const contexts = new Map(places.flatMap((one) => (isNamed(one) ? [[one.namespaceUid, one.plan.context]] : [])));
    return ({ plan, namespaceUid }) => {
        const known = namespaceUid === undefined ? undefined : contexts.get(namespaceUid);
        if (known !== undefined) return known;
        const name = plan.context ?? plan.clusterName;
        return namespaceUid === undefined || isNamed({ plan }) ? name : `${name} (${namespaceUid.slice(0, 8)})`;
    };
}

const isNamed = ({ plan: { context } }: Pick<Place, "plan">) => context !== undefined && context !== podContext;
