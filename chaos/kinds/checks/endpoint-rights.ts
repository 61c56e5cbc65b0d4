import { otherResources, type Resource, resources, type Right, rightsIn } from "../../cluster/resources";
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
    const { secret, node } = otherResources;
    const caType = caFrom?.kind === "Secret" ? secret : resources.configMap;
    const reading = (where: string | undefined, type: Resource, name: string) =>
        rightsIn(where ?? namespace)("get", type, name).to("read the Secrets and the CA that a check names");
    return [
        named
            ? rightsIn(named.namespace)("get", resources.service, named.name).to("find the Service that a check names")
            : [],
        asked && verb !== null ? rightToProxy(asked, scheme, verb) : [],
        rightsIn()("list", node).to(
            "know the addresses at which a NodePort answers",
            "a Service of type NodePort is asked through the API server, and not recognized in the `url` of a check",
        ),
        secretsOf(check).flatMap((one) => reading(one.namespace, secret, one.secret)),
        caFrom ? reading(caFrom.namespace, caType, caFrom.name) : [],
    ].flat();
}

function rightToProxy({ namespace, name, port }: NamedService, scheme: NamedService["scheme"], verb: string): Right[] {
    // The proxy is asked for the port's number, which is known only in the cluster if the check has none.
    const names = typeof port === "number" ? [`${scheme === "https" ? "https:" : ""}${name}:${port}`] : [];
    return rightsIn(namespace)(verb, { resource: "services/proxy" }, ...names).to(
        "send checks through the API server",
        "the Service needs an external address",
    );
}
