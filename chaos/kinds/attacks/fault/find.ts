import type { V1Service, V1ServicePort } from "../../../values/kubernetes-types";
import { kubectlFor } from "../../../values/kubectl";
import type { Cluster } from "../../../cluster/client";
import { hasEnded, isReady, type Pod, portNumberIn, targetPortOf } from "../../../values/kubernetes-rules";
import { selectorOf } from "../../../cluster/labels";
import { sliceByHand } from "../../../cluster/service-endpoints";
import { ReasonError } from "../../../values/reasons";
import type { Found } from "../attack-kind";
import { listenersFor } from "./listeners";
import { bindingOf, whyBypassed, whyInMesh, whyInOtherClusters } from "./outside";
import type { Fault } from "./proxy/protocol";
import { whyRefused } from "./unserved";
import { resources } from "../../../cluster/resources";

/** The Service of a fault, as the run found it. */
export interface FoundService {
    service: string;
    /** What selected its pods before. */
    selector: Record<string, string>;
    ports: FoundPort[];
    publishNotReadyAddresses?: true;
    /** Its first family of addresses, since its pods may listen in that alone. Absent if the Service does not say. */
    family?: string;
    /** Names of its pods that were ready. */
    pods: string[];
}

export interface FoundPort {
    /** Empty if the Service's only port has no name. */
    name: string;
    port: number;
    /** Number or name of the pods' port. */
    target: number | string;
    /** Where the proxy listens: at the pods' number, if they agree on one. */
    listen: number;
    /** The `pods` that have no port of that name. Absent if there are none. */
    without?: string[];
    /** For `pods` that do not listen at `listen`: the number at which each does. Absent if there are none. */
    elsewhere?: Record<string, number>;
    appProtocol?: string;
}

/** @throws ReasonError if a fault cannot be done to the Service */
export async function findService(
    cluster: Cluster,
    namespace: string,
    { service, ...rest }: Pick<Fault, "service" | "abort" | "match">,
): Promise<Found<FoundService>> {
    const found = await cluster.get({ resource: resources.service, name: service, namespace });
    const services = `${kubectlFor(cluster, namespace)} get services`;
    if (found === undefined)
        throw new ReasonError(
            "service-unfit",
            `there is no Service ${service} in namespace ${namespace}`,
            `Name one of: ${services}`,
        );
    const refuseIf = (reason: string | undefined) => {
        if (reason !== undefined) throw unfit(service, reason, services);
    };
    refuseIf(whyRefused(found, rest) ?? whyInOtherClusters(found));
    const selector = found.spec!.selector!;
    const [selected, binding, byHand] = await Promise.all([
        cluster.all(resources.pod, { namespace, labelSelector: selectorOf(selector) }),
        bindingOf(cluster, { namespace, service }),
        sliceByHand(cluster, namespace, service),
    ]);
    refuseIf(byHand && `its EndpointSlice ${byHand} is not made by its selector, and callers would still reach it`);
    const pods = selected.filter((pod) => !hasEnded(pod));
    refuseIf(whyBypassed(found, pods, binding) ?? whyInMesh(pods) ?? whyNowhere(found, pods));
    const ports = portsOf(found.spec!.ports!, pods);
    const without = pods.filter((pod) => isNowhereIn(found, pod)).map(nameOf);
    const conditions = Object.entries(selector).map(([key, value]) => `k8s.label.${key}=${value}`);
    if (without.length > 0) conditions.push(`k8s.pod.name!=${without.join("|")}`);
    return {
        found: {
            service,
            selector,
            ports,
            ...(found.spec!.ipFamilies?.[0] && { family: found.spec!.ipFamilies[0] }),
            ...(found.spec!.publishNotReadyAddresses && { publishNotReadyAddresses: true as const }),
            pods: pods.filter(isReady).map(nameOf),
        },
        conditions: conditions.join(),
        origin: `Service ${service}`,
    };
}

export const connectionsOf = ({ pods, ports }: Pick<FoundService, "pods" | "ports">) =>
    pods.map((pod) => ({
        pod,
        ports: ports.flatMap(({ listen, without, elsewhere }) =>
            without?.includes(pod) ? [] : (elsewhere?.[pod] ?? listen),
        ),
    }));

const nameOf = ({ metadata }: Pod) => metadata!.name!;

const isNowhereIn = ({ spec }: V1Service, pod: Pod) =>
    spec!.ports!.every((port) => portNumberIn(pod, targetPortOf(port)) === undefined);

/** Why a Service leads to none of its pods, although it has some. */
function whyNowhere(service: V1Service, pods: readonly Pod[]): string | undefined {
    if (pods.length === 0 || pods.some((pod) => !isNowhereIn(service, pod))) return undefined;
    const names = service.spec!.ports!.map(targetPortOf).join(" or ");
    return `none of its pods has a TCP port named ${names}`;
}

function portsOf(ports: readonly V1ServicePort[], pods: readonly Pod[]): FoundPort[] {
    const listeners = listenersFor(ports.map(targetPortOf), pods);
    return ports.map((one, index) => {
        const { name = "", port, appProtocol } = one;
        const target = targetPortOf(one);
        const listen = listeners[index]!;
        const numbers = pods.filter(isReady).map((pod) => [nameOf(pod), portNumberIn(pod, target)] as const);
        const without = numbers.flatMap(([pod, number]) => (number === undefined ? pod : []));
        const elsewhere = numbers.filter(([, number]) => number !== undefined && number !== listen);
        return {
            name,
            port,
            target,
            listen,
            ...(without.length > 0 && { without }),
            ...(elsewhere.length > 0 && { elsewhere: Object.fromEntries(elsewhere) as Record<string, number> }),
            ...(appProtocol && { appProtocol }),
        };
    });
}

const unfit = (service: string, reason: string, services: string) =>
    new ReasonError(
        "service-unfit",
        `a fault cannot be done to Service ${service}: ${reason}`,
        `Change it, or name another one of: ${services}`,
    );
