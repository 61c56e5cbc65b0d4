import { type Right, rightsOn } from "../../cluster/resources";
import { type EndpointSettings, type FromSecrets, secretsOf } from "./endpoint";
import { serviceNamedBy } from "./endpoints";
import type { CheckPlace } from "./check-kind";
import type { NamedService } from "./route";

/**
 * The rights to send the requests of a check over HTTP. @param verb null if the API server's proxy passes nothing on
 */
export function endpointRights(
    check: EndpointSettings & FromSecrets & { kind: string },
    { defaultNamespace, service }: CheckPlace,
    verb: string | null = "get",
): Right[] {
    const named = serviceNamedBy(check, defaultNamespace);
    const asked = named ?? (check.url === undefined ? service : undefined);
    const { namespace = defaultNamespace, caFrom, scheme } = check;
    const reading = (namespace: string, resource: string, name: string, why: string) =>
        rightsOn({ namespace, resource, names: [name] })(["get"], why);
    const why = "read the Secrets and the CA that a check names";
    const caResource = caFrom?.kind === "Secret" ? "secrets" : "configmaps";
    return [
        ...(named ? [reading(named.namespace, "services", named.name, "find the Service that a check names")] : []),
        ...(asked && verb !== null ? [rightToProxy(asked, scheme, verb)] : []),
        rightToListNodes,
        ...secretsOf(check).map((one) => reading(one.namespace ?? namespace, "secrets", one.secret, why)),
        ...(caFrom ? [reading(caFrom.namespace ?? namespace, caResource, caFrom.name, why)] : []),
    ];
}

const rightToListNodes = rightsOn({ resource: "nodes" })(
    ["list"],
    "know the addresses at which a NodePort answers",
    "a Service of type NodePort is asked through the API server, and not recognized in the `url` of a check",
);

function rightToProxy({ namespace, name, port }: NamedService, scheme: NamedService["scheme"], verb: string): Right {
    // The proxy is asked for the port's number, which is known only in the cluster if the check has none.
    const names = typeof port === "number" ? [`${scheme === "https" ? "https:" : ""}${name}:${port}`] : undefined;
    return rightsOn({ namespace, resource: "services/proxy", names })(
        [verb],
        "send checks through the API server",
        "the Service needs an external address",
    );
}
