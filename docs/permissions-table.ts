import { exampleActions } from "../chaos/actions/registry";
import { isRequired, type Right } from "../chaos/cluster/resources";
import { type Plan, planOf } from "../chaos/definition/plan";
import { permissionsOf } from "../chaos/permissions/permissions";
import { tableOf, withPart } from "./markdown";

const places: Record<string, string> = {
    targets: "the targets'",
    application: "the application's",
    peers: "the peers'",
    agent: "the agent's",
    check: "the check's",
};

/** A plan with every kind of attack, check and action. Each is in a separate namespace. */
export const everything: Plan = planOf({
    definition: {
        hypothesis: "It holds.",
        attacks: [
            { kind: "fault", service: "FAULTED", target: "k8s.deployment=g,k8s.namespace=targets" },
            { kind: "kill", target: "k8s.deployment=a,k8s.namespace=targets" },
            { kind: "dns", target: "k8s.deployment=b,k8s.namespace=targets" },
            { kind: "blackhole", target: "k8s.deployment=c,k8s.namespace=targets" },
            {
                kind: "blackhole",
                target: "k8s.deployment=d,k8s.namespace=targets",
                peers: "k8s.deployment=e,k8s.namespace=peers",
            },
        ],
        checks: [
            { kind: "http", path: "/" },
            { kind: "http", path: "/", method: "POST" },
            {
                kind: "http",
                path: "/",
                service: "OTHER",
                namespace: "check",
                headersFrom: { "x-key": { secret: "SECRET", key: "key" } },
                caFrom: { name: "CONFIGMAP" },
            },
            {
                kind: "condition",
                of: { apiVersion: "apps/v1", kind: "Deployment", name: "OBJECT", namespace: "check" },
                type: "Available",
            },
            { kind: "prometheus", query: "up", service: "PROMETHEUS", namespace: "check", port: 9090 },
            { kind: "command", command: ["./check.sh"] },
            { kind: "podsReady", of: "k8s.deployment=f" },
        ],
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
    const withoutFaults = {
        ...everything,
        attacks: everything.attacks.filter(({ attack }) => attack.kind !== "fault"),
    };
    const rights = permissionsOf([everything]);
    const known = new Set(rights.map(keyOf));
    const others = permissionsOf([withoutAgent, withoutFaults]).filter((right) => !known.has(keyOf(right)));
    const all = [...rights, ...others];
    const [needed, optional] = [all.filter(isRequired), all.filter((right) => !isRequired(right))];
    const head = ["objects", "namespace", "verbs", "to"];
    return [
        tableOf([head, ...rowsOf(needed)]),
        "These are optional:\n",
        tableOf([[...head, "without it"], ...rowsOf(optional)]),
    ].join("\n");
}

const keyOf = ({ namespace, resource, names, verbs }: Right) => JSON.stringify([namespace, resource, names, verbs]);

/** Objects of several kinds with the same verbs and reasons are in one row. */
function rowsOf(rights: readonly Right[]): string[][] {
    const rows = new Map<string, string[]>();
    for (const { namespace, resource, names, verbs, why, without } of rights) {
        // The place says the same.
        const isNamed = names !== undefined && resource !== "namespaces";
        const objects = `\`${resource}\`${isNamed ? ` ${names.map((name) => `\`${name}\``).join(", ")}` : ""}`;
        const place = namespace === undefined ? "all" : places[namespace]!;
        const rest = [place, verbs.join(", "), why, ...(without === undefined ? [] : [without])];
        const key = rest.join("|");
        const before = rows.get(key)?.[0];
        rows.set(key, [before === undefined ? objects : `${before}, ${objects}`, ...rest]);
    }
    return [...rows.values()];
}

/** A page with the tables of today. */
export const withPermissionsTables = (page: string): string => withPart(page, "permissions", permissionsTables());
