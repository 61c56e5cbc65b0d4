import { isRequired, type Right } from "../cluster/resources";
import type { Plan } from "../definition/plan";
import { groupedBy } from "../values/grouped";
import { rightsOfRun } from "./table";

/**
 * The smallest rights with which a person runs experiments by `pulumi up`, and undoes them: those that they need, then
 * those that they can do without, each with what is lost then.
 *
 * @param plans of the experiments
 * @param others what the program that runs them needs besides. @default nothing
 */
export function permissionsOf(plans: readonly Plan[], others: readonly Right[] = []): Right[] {
    return merged([...plans.flatMap(rightsOfRun), ...others]);
}

/** One verb of a right, on all objects or on one. */
export interface Grant extends Omit<Right, "verbs" | "names"> {
    verb: string;
    /** @default all objects */
    name?: string;
}

export const grantsOf = (rights: readonly Right[]): Grant[] =>
    rights.flatMap(({ verbs, names = [undefined], ...right }) =>
        verbs.flatMap((verb) => names.map((name) => ({ ...right, verb, name }))),
    );

/**
 * The smallest list of rights that gives all of some: each verb once, nothing that another one includes, and one right
 * for each kind of objects.
 */
export function merged(rights: readonly Right[]): Right[] {
    const needed = grantsOf(rights.filter(isRequired));
    const wanted = grantsOf(rights.filter((right) => !isRequired(right)));
    const isExtra = (grant: Grant) => !needed.some((other) => covers(other, grant));
    return [...asRights(widest(needed)), ...asRights(widest(wanted.filter(isExtra)))];
}

/** Those that no other includes. Of equal ones all stay: each has its reason. */
const widest = (grants: readonly Grant[]) =>
    grants.filter((grant) => grants.every((other) => !covers(other, grant) || covers(grant, other)));

/** Whether who has one grant also has the other. Without a namespace, it is for all namespaces. */
function covers(one: Grant, other: Grant): boolean {
    return (
        (one.apiGroup ?? "") === (other.apiGroup ?? "") &&
        one.resource === other.resource &&
        one.verb === other.verb &&
        (one.namespace === undefined || one.namespace === other.namespace) &&
        (one.name === undefined || one.name === other.name)
    );
}

const verbsInOrder = ["get", "list", "watch", "create", "update", "patch", "delete"];

/** One right for the verbs on the same objects. Names with the same verbs are in one right, too. */
function asRights(grants: readonly Grant[]): Right[] {
    const kindOf = ({ namespace, apiGroup = "", resource }: Grant) => [namespace, apiGroup, resource].join(" ");
    const byObjects = groupedBy(grants, (grant) => [kindOf(grant), grant.name].join(" "));
    const ofObjects = [...byObjects.values()].map((same) => ({
        same,
        verbs: verbsInOrder.filter((verb) => same.some((grant) => grant.verb === verb)),
    }));
    const byVerbs = groupedBy(ofObjects, ({ same: [grant], verbs }) =>
        [kindOf(grant!), grant!.name !== undefined, verbs].join(" "),
    );
    return [...byVerbs.values()].map((alike) => {
        const same = alike.flatMap((one) => one.same);
        const { namespace, apiGroup = "", resource } = same[0]!;
        const names = unique(same.flatMap(({ name }) => name ?? []));
        const without = unique(same.flatMap((grant) => grant.without ?? []));
        return {
            ...(namespace !== undefined && { namespace }),
            apiGroup,
            resource,
            verbs: alike[0]!.verbs,
            ...(names.length > 0 && { names }),
            why: unique(same.map(({ why }) => why)).join("; "),
            ...(without.length > 0 && { without: without.join("; ") }),
        };
    });
}

const unique = (items: readonly string[]) => [...new Set(items)];
