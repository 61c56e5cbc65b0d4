import { exampleActions } from "../chaos/kinds/actions/registry";
import { exampleAttacks, objectTypeOf } from "../chaos/kinds/attacks/registry";
import { exampleChecks } from "../chaos/kinds/checks/registry";
import { isRequired, resources, type Right } from "../chaos/cluster/resources";
import { type Plan, planOf } from "../chaos/definition/plan";
import { besidesOf, changedBy } from "../chaos/ending/left";
import { groupedBy } from "../chaos/values/grouped";
import { permissionsOf } from "../chaos/rights/permissions";
import { jobRightsOf, managed } from "../chaos/rights/table";
import { tableOf, withPart } from "./markdown";

/** A plan with the examples of every kind of attack, check and action. Its parts are in different namespaces. */
const everything: Plan = planOf({
    definition: {
        hypothesis: "It holds.",
        attacks: exampleAttacks.map((attack) => ({
            ...attack,
            target: "k8s.deployment=a,k8s.zone=b,k8s.namespace=targets",
        })),
        checks: [...exampleChecks],
        actions: [...exampleActions],
    },
    name: "everything",
    run: "1",
    context: "any",
    clusterName: "any",
    area: "Global",
    agent: { namespace: "agent", name: "agent" },
    defaultNamespace: "application",
    service: { namespace: "application", name: "SERVICE", port: 80 },
    durationMs: 1_000,
    graceMs: 0,
    intervalMs: 1_000,
    timeoutMs: 1_000,
    successRate: 1,
    deadlineMs: 60_000,
    onFailure: "report",
    reports: "reports",
    defaultChecks: [],
});

/** The tables of all rights that experiments may need, in Markdown, from the data that `permissionsOf` reads. */
function permissionsTables(): string {
    const { agent: _, ...withoutAgent } = everything;
    // Then the others' leftovers must be removed.
    const onlyPolicies = {
        ...everything,
        attacks: everything.attacks.filter(({ attack }) => objectTypeOf(attack) === resources.networkPolicy),
    };
    const rights = permissionsOf([everything]);
    const isKnown = (right: Right) =>
        rights.some((one) => keyOf(one) === keyOf(right) && (isRequired(one) || !isRequired(right)));
    const others = permissionsOf([withoutAgent, onlyPolicies]).filter((right) => !isKnown(right));
    const all = [...rights, ...others].map(withoutGranting);
    const [needed, optional] = [all.filter(isRequired), all.filter((right) => !isRequired(right))];
    const head = ["right", "namespace", "to"];
    return [
        tableOf([head, ...rowsOf(needed)]),
        "These are optional:\n",
        tableOf([[...head, "without it"], ...rowsOf(optional)]),
    ].join("\n");
}

/** The page says that a person needs the deadline Job's rights, so a right with another reason does not repeat it. */
function withoutGranting(right: Right): Right {
    const reasons = right.why.split("; ");
    const others = reasons.filter((reason) => reason !== "grant the deadline Job its rights");
    return { ...right, why: (others.length > 0 ? others : reasons).join("; ") };
}

const keyOf = ({ namespace, resource, names, verbs }: Right) => JSON.stringify([namespace, resource, names, verbs]);

/** The page says that `manage` is these six. */
const verbsIn = (verbs: readonly string[]) => (verbs.join(" ") === managed ? "manage" : verbs.join(", "));

/** Objects of several kinds with the same verbs and reasons are in one row, and so is one right in several places. */
function rowsOf(rights: readonly Right[]): string[][] {
    const rows = new Map<string, { verbs: string; objects: string[]; rest: string[] }>();
    for (const { namespace = "all", resource, names, verbs, why, without } of rights) {
        // The place says the same.
        const isNamed = names !== undefined && resource !== "namespaces";
        const object = `\`${resource}\`${isNamed ? ` ${names.map((name) => `\`${name}\``).join(", ")}` : ""}`;
        const rest = [namespace, why, ...(without === undefined ? [] : [without])];
        const key = [verbs, rest].join("|");
        const row = rows.get(key) ?? { verbs: verbsIn(verbs), objects: [], rest };
        // Two attacks of a kind may need the same.
        rows.set(key, { ...row, objects: [...new Set([...row.objects, object])] });
    }
    const all = [...rows.values()].map(({ verbs, objects, rest }) => [`${verbs} ${objects.join(", ")}`, ...rest]);
    const alike = groupedBy(all, ([right, , ...reasons]) => [right, ...reasons].join("|"));
    return [...alike.values()].map((same) => {
        const [right, , ...reasons] = same[0]!;
        return [right!, same.map(([, place]) => place).join(", "), ...reasons];
    });
}

/** What the Job of a run with all of these may do. */
function jobTable(): string {
    const attacks = everything.attacks.map(({ attack }) => ({ attack, object: "ATTACK" }));
    const rights = jobRightsOf(attacks, changedBy(everything), "JOB", "POLICY", {
        mayMakeEvents: true,
        besides: besidesOf(everything, "RUN"),
    });
    const unique = (names: Right["names"]) => names && [...new Set(names)];
    const rows = rowsOf(rights.map((right) => ({ ...right, without: undefined, names: unique(right.names) })));
    return tableOf([["right", "to"], ...rows.map(([right, _, ...rest]) => [right!, ...rest])]);
}

export const withPermissionsTables = (page: string): string =>
    withPart(withPart(page, "permissions", permissionsTables()), "deadline Job", jobTable());
