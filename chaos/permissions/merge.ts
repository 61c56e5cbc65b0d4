import { isRequired, type Right } from "../cluster/resources";

/** One verb on one kind of objects, or on one object. */
interface Grant {
    namespace?: string;
    apiGroup: string;
    resource: string;
    verb: string;
    /** @default all objects */
    name?: string;
    why: string[];
    without: string[];
}

/**
 * The smallest list of rights that gives all of some: each verb once, nothing that another one includes, and one right
 * for each kind of objects.
 */
export function merged(rights: readonly Right[]): Right[] {
    const required = distinct(rights.filter(isRequired));
    const optional = distinct(rights.filter((right) => !isRequired(right)));
    const isIn = (grant: Grant, others: readonly Grant[]) => others.some((other) => covers(other, grant));
    const within = (grant: Grant, all: readonly Grant[]) =>
        isIn(
            grant,
            all.filter((other) => other !== grant),
        );
    const needed = required.filter((grant) => !within(grant, required));
    const wanted = optional.filter((grant) => !isIn(grant, required) && !within(grant, optional));
    return [...asRights(needed), ...asRights(wanted)];
}

const keyOf = ({ namespace = "", apiGroup, resource, verb, name = "" }: Omit<Grant, "why" | "without">) =>
    [namespace, apiGroup, resource, verb, name].join(" ");

function distinct(rights: readonly Right[]): Grant[] {
    const grants = new Map<string, Grant>();
    for (const { namespace, apiGroup = "", resource, verbs, names = [undefined], why, without } of rights)
        for (const verb of verbs)
            for (const name of names) {
                const grant = { namespace, apiGroup, resource, verb, name, why: [], without: [] };
                const kept: Grant = grants.get(keyOf(grant)) ?? grant;
                grants.set(keyOf(grant), kept);
                add(kept.why, why);
                if (without !== undefined) add(kept.without, without);
            }
    return [...grants.values()];
}

function add(list: string[], item: string): void {
    if (!list.includes(item)) list.push(item);
}

/** Whether who has one grant also has the other. Without a namespace, it is for all namespaces. */
function covers(one: Grant, other: Grant): boolean {
    return (
        one.apiGroup === other.apiGroup &&
        one.resource === other.resource &&
        one.verb === other.verb &&
        (one.namespace === undefined || one.namespace === other.namespace) &&
        (one.name === undefined || one.name === other.name)
    );
}

const verbsInOrder = ["get", "list", "watch", "create", "update", "patch", "delete"];

/** One right for the verbs on the same objects. Names with the same verbs are in one right, too. */
function asRights(grants: readonly Grant[]): Right[] {
    const ofObjects = groupedBy(grants, (grant) => keyOf({ ...grant, verb: "" })).map((same) => ({
        ...same[0]!,
        verbs: verbsInOrder.filter((one) => same.some(({ verb }) => verb === one)),
        why: unique(same.flatMap(({ why }) => why)),
        without: unique(same.flatMap(({ without }) => without)),
    }));
    return groupedBy(ofObjects, ({ name, ...right }) =>
        [keyOf({ ...right, verb: "" }), name !== undefined, right.verbs].join(" "),
    ).map((same) => {
        const { namespace, apiGroup, resource, verbs } = same[0]!;
        const names = same.flatMap(({ name }) => name ?? []);
        const without = unique(same.flatMap((right) => right.without));
        return {
            ...(namespace !== undefined && { namespace }),
            apiGroup,
            resource,
            verbs,
            ...(names.length > 0 && { names }),
            why: unique(same.flatMap(({ why }) => why)).join("; "),
            ...(without.length > 0 && { without: without.join("; ") }),
        };
    });
}

const unique = (items: readonly string[]) => [...new Set(items)];

function groupedBy<T>(items: readonly T[], key: (item: T) => string): T[][] {
    const groups = new Map<string, T[]>();
    for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
    return [...groups.values()];
}
