import * as pulumi from "@pulumi/pulumi";
import {
    fromEverybody,
    fromPods,
    type NetworkPoliciesArgs,
    toApiServer,
    toDns,
    toPods,
    toService,
    type Traffic,
} from "../base/network-policies";
import { brokerPort } from "./broker";
import { callers } from "./calls";
import { databasePort } from "./database";
import { programPort } from "./http-service";

/** The ports at which callers connect, where these are not those of the shop's own programs. */
const ports: Record<string, number> = { database: databasePort, "message-broker": brokerPort };
const portOf = (workload: string) => ports[workload] ?? programPort;

const asksApiServer = (workload: string) => workload === "gateway";

/** The label of a workload's pods, by which its Deployment and its Service select them, too. */
const labelsOf = (workload: string) => ({ app: workload });

/** A workload's Service: its cluster IPs, if they are known, and its port. */
interface ServiceAddress {
    ips?: string[];
    port: number;
}

/**
 * The shop's NetworkPolicies: who may talk to whom. A workload that calls another one also looks up its name. The
 * database and the broker call none.
 *
 * @param services of the workloads that there are. Rendered manifests and charts do not know the cluster IPs
 */
export function shopPolicies(
    services: Record<string, pulumi.Input<ServiceAddress>>,
): Omit<NetworkPoliciesArgs, "namespace"> {
    const addresses = pulumi.output(services);
    return {
        pods: { matchExpressions: [{ key: "app", operator: "In", values: Object.keys(callers) }] },
        allowed: Object.fromEntries(Object.keys(services).map((name) => [name, trafficOf(name, addresses)])),
    };
}

function trafficOf(name: string, services: pulumi.Output<Record<string, ServiceAddress>>): Traffic {
    const [port, allowed] = [portOf(name), callers[name]!];
    return {
        pods: labelsOf(name),
        ...(allowed.length > 0 && {
            ingress: [allowed === "everybody" ? fromEverybody(port) : fromPods(allowed.map(labelsOf), port)],
        }),
        ...(calledBy(name).length > 0 && { egress: services.apply((known) => egressOf(name, known)) }),
    };
}

const calledBy = (name: string) => Object.keys(callers).filter((callee) => callers[callee]!.includes(name));

/** What another variant adds comes last: a preview shows only that. */
function egressOf(name: string, services: Record<string, ServiceAddress>) {
    const callees = calledBy(name);
    return [
        toDns,
        ...(asksApiServer(name) ? [toApiServer] : []),
        ...callees.map((callee) => toPods(labelsOf(callee), portOf(callee))),
        ...callees.flatMap((callee) => {
            const { ips = [], port } = services[callee] ?? { port: 0 };
            return ips.length > 0 ? [toService(ips, port)] : [];
        }),
    ];
}
