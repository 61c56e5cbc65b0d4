/** A resource in an exported state, as far as it matters here. */
interface Resource {
    urn: string;
    type: string;
    inputs?: { metadata?: { name?: string; namespace?: string } };
}

interface ExportedState {
    deployment?: { resources?: Resource[]; pending_operations?: { type: string; resource: Resource }[] };
}

/** Whether an event of an update says that the state has pending operations. */
export const saysPending = ({ diagnosticEvent }: { diagnosticEvent?: { message: string } }): boolean =>
    / pending operations? from previous deployment/.test(diagnosticEvent?.message ?? "");

/**
 * Whether a state has pending creations, and all of them leave nothing unknown behind. A killed update leaves them,
 * Pulumi warns of them in each later update, and only a person can clear them, since the resource may exist:
 * https://www.pulumi.com/docs/support/troubleshooting/common-issues/interrupted-updates
 *
 * - A step of an experiment: what it did is found in the cluster by later steps, and it can be done again.
 * - An object that a later update created under the same name: the state knows it now.
 *
 * @param exported by `pulumi stack export`
 */
export function canForgetPending(exported: string): boolean {
    const { resources = [], pending_operations: pending = [] } =
        (JSON.parse(exported) as ExportedState).deployment ?? {};
    const isRepeatable = ({ type, resource }: { type: string; resource: Resource }) =>
        type === "creating" &&
        (resource.type === "command:local:Command" || resources.some((one) => isSameObject(one, resource)));
    return pending.length > 0 && pending.every(isRepeatable);
}

function isSameObject(one: Resource, other: Resource): boolean {
    const [a, b] = [one, other].map(({ inputs }) => inputs?.metadata);
    return one.urn === other.urn && a?.name !== undefined && a.name === b?.name && a.namespace === b.namespace;
}
