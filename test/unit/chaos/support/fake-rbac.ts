import type { Right } from "../../../../chaos/cluster/resources";
import { type FakeCluster, type FakeRequest, refuse } from "./fake-cluster";

interface Asked {
    verb: string;
    group: string;
    resource: string;
    namespace?: string;
    name?: string;
}

/** Whether RBAC allows a request to an account with some rights. */
export function allows(rights: readonly Right[], { verb, group, resource, namespace, name }: Asked): boolean {
    return rights.some(
        (right) =>
            right.verbs.includes(verb) &&
            (right.apiGroup ?? "") === group &&
            right.resource === resource &&
            (right.namespace === undefined || right.namespace === namespace) &&
            (right.names === undefined || (name !== undefined && right.names.includes(name))),
    );
}

/**
 * Refuses all calls that some rights do not allow, as RBAC does, and answers questions about them.
 *
 * @returns the calls that it has refused
 */
export function limit(cluster: FakeCluster, rights: readonly Right[]): string[] {
    const refused: string[] = [];
    cluster.rules = [];
    cluster.access = ({ verb = "", group = "", resource = "", subresource, namespace, name }) => ({
        allowed: allows(rights, {
            verb,
            group,
            resource: subresource ? `${resource}/${subresource}` : resource,
            namespace,
            name,
        }),
    });
    cluster.intercept = (call, request) => {
        if (call.includes("SelfSubject")) return;
        const asked = askedBy(call, request);
        if (allows(rights, asked)) return;
        const { verb, group, resource, namespace } = asked;
        refused.push(call);
        const place = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
        const right = `cannot ${verb} resource "${resource}" in API group "${group}" ${place}`;
        refuse(403, `${resource} is forbidden: User "ada" ${right}`);
    };
    return refused;
}

function askedBy(call: string, { name, namespace, fieldSelector, resource }: FakeRequest): Asked {
    const [verb = "", part] = [call.split(" ")[0], call.split("/")[1]];
    // RBAC takes the name of a list from its field selector.
    const selected = /^metadata\.name=(.+)$/.exec(fieldSelector ?? "")?.[1];
    return {
        verb: verb === "replace" ? "update" : verb,
        group: resource.apiGroup,
        resource: part === undefined ? resource.resource : `${resource.resource}/${part}`,
        namespace: resource.kind === "Namespace" ? name : namespace,
        name: name ?? selected,
    };
}
