import { type Cluster, unlessForbidden } from "../../../cluster/client";
import { hasEnded } from "../../../values/kubernetes-rules";
import { annotations } from "../../../cluster/labels";
import type { BesidePolicy } from "../../../policies/beside";
import { selects } from "../../../policies/selector";
import type { Policed, RunAttack } from "../attack-kind";
import { labelsOf, proxyPolicies, refuseForeignCallers } from "./access";
import type { FoundService } from "./find";
import { otherResources, resources } from "../../../cluster/resources";

/** The policies that let an attack's proxy work. @throws Error as `proxyPolicies` and `refuseForeignCallers` do */
export async function admitProxy(
    { experiment, namespace, object: proxy, chosen }: RunAttack<unknown, FoundService>,
    cluster: Cluster,
    { policies, pass }: Policed,
): Promise<BesidePolicy[]> {
    const service = chosen.found!;
    const [all, own, everywhere] = await Promise.all([
        cluster.all(resources.pod, { namespace }),
        cluster.read({ resource: otherResources.namespace, name: namespace }),
        // A person may have rights in one namespace and nowhere else.
        unlessForbidden(cluster.all(resources.networkPolicy)),
    ]);
    const pods = all.filter((pod) => !hasEnded(pod) && selects({ matchLabels: service.selector }, labelsOf(pod)));
    const access = { service, proxy, experiment, pods, namespace: labelsOf(own) };
    refuseForeignCallers(everywhere ?? [], access);
    const [ofProxy, ...others] = proxyPolicies(policies, { ...access, pass, attacked: chosen.chosenBy! });
    const { selector, ports } = service;
    // The Job sees by this whether a policy that comes later keeps somebody from the proxy.
    const noted = { service: { service: service.service, selector, ports }, namespace: access.namespace };
    return [{ ...ofProxy!, annotations: { [annotations.access]: JSON.stringify(noted) } }, ...others];
}
