import type { Right } from "../cluster/resources";
import type { EndpointSettings } from "./endpoint";
import { serviceNamedBy } from "./endpoints";
import type { CheckPlace } from "./kind";

/**
 * What it takes to ask what a check over HTTP asks.
 *
 * @param verb what the API server's proxy wants for the check's method
 */
export function endpointRights(
    check: EndpointSettings & { kind: string },
    { defaultNamespace, service }: CheckPlace,
    verb = "get",
): Right[] {
    const named = serviceNamedBy(check, defaultNamespace);
    const asked = named ?? (check.url === undefined ? service : undefined);
    return [
        ...(named
            ? [
                  {
                      namespace: named.namespace,
                      resource: "services",
                      names: [named.name],
                      verbs: ["get"],
                      why: "find the Service that a check names",
                  },
              ]
            : []),
        ...(asked ? [rightToProxy(asked, check.scheme, verb)] : []),
        ...rightsToReferences(check, check.namespace ?? defaultNamespace),
    ];
}

function rightToProxy(
    { namespace, name, port }: { namespace: string; name: string; port?: number | string },
    scheme: EndpointSettings["scheme"],
    verb: string,
): Right {
    return {
        namespace,
        resource: "services/proxy",
        // The proxy is asked for the port's number, which is known only in the cluster if the check has none.
        ...(typeof port === "number" && { names: [`${scheme === "https" ? "https:" : ""}${name}:${port}`] }),
        verbs: [verb],
        why: "send the checks' requests through the API server",
        without: "the checks need an address of the Service that answers from outside the cluster",
    };
}

function rightsToReferences({ headersFrom, caFrom }: EndpointSettings, namespace: string): Right[] {
    const why = "read the headers and the CA that a check names";
    const secrets = Object.values(headersFrom ?? {});
    return [
        ...secrets.map(({ secret, namespace: own = namespace }) => ({
            namespace: own,
            resource: "secrets",
            names: [secret],
            verbs: ["get"],
            why,
        })),
        ...(caFrom
            ? [
                  {
                      namespace: caFrom.namespace ?? namespace,
                      resource: caFrom.kind === "Secret" ? "secrets" : "configmaps",
                      names: [caFrom.name],
                      verbs: ["get"],
                      why,
                  },
              ]
            : []),
    ];
}
