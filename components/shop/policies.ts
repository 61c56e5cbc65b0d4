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
import { databasePort } from "./database";
import { programPort } from "./http-service";

interface Workload {
    port: number;
    /** The workloads that connect to its port. The kubelet's probes are always allowed. */
    callers: readonly string[] | "everybody";
    /** @default false */
    asksApiServer?: boolean;
}

const departments = ["fashion-bestseller", "toys-bestseller", "hot-deals"] as const;

/**
 * Who may talk to whom. Both variants have the same list.
 *
 * A workload that calls another one also looks up its name. The database and the broker call none.
 */
const workloads: Record<string, Workload> = {
    // By its Service, through an Ingress, or through the API server's proxy.
    gateway: { port: programPort, callers: "everybody", asksApiServer: true },
    ...Object.fromEntries(departments.map((name) => [name, { port: programPort, callers: ["gateway"] }])),
    database: { port: databasePort, callers: [...departments, "orders", "inventory"] },
    orders: { port: programPort, callers: ["gateway"] },
    inventory: { port: programPort, callers: [] },
    "message-broker": { port: brokerPort, callers: ["orders", "inventory"] },
};

/** The label of a workload's pods, by which its Deployment and its Service select them, too. */
const labelsOf = (workload: string) => ({ app: workload });

/** A workload's Service: its cluster IPs, if they are known, and its port. */
interface ServiceAddress {
    ips?: string[];
    port: number;
}

/**
 * The shop's NetworkPolicies.
 *
 * @param services of the workloads that there are. Rendered manifests and charts do not know the cluster IPs
 */
export function shopPolicies(
    services: Record<string, pulumi.Input<ServiceAddress>>,
): Omit<NetworkPoliciesArgs, "namespace"> {
    const addresses = pulumi.output(services);
    return {
        pods: { matchExpressions: [{ key: "app", operator: "In", values: Object.keys(workloads) }] },
        allowed: Object.fromEntries(Object.keys(services).map((name) => [name, trafficOf(name, addresses)])),
    };
}

function trafficOf(name: string, services: pulumi.Output<Record<string, ServiceAddress>>): Traffic {
    const { port, callers } = workloads[name]!;
    return {
        pods: labelsOf(name),
        ...(callers.length > 0 && {
            ingress: [callers === "everybody" ? fromEverybody(port) : fromPods(callers.map(labelsOf), port)],
        }),
        ...(calledBy(name).length > 0 && { egress: services.apply((known) => egressOf(name, known)) }),
    };
}

const calledBy = (name: string) => Object.entries(workloads).filter(([, { callers }]) => callers.includes(name));

/** What another variant adds comes last: a preview shows only that. */
function egressOf(name: string, services: Record<string, ServiceAddress>) {
    const callees = calledBy(name);
    return [
        toDns,
        ...(workloads[name]!.asksApiServer ? [toApiServer] : []),
        ...callees.map(([callee, { port }]) => toPods(labelsOf(callee), port)),
        ...callees.flatMap(([callee]) => {
            const { ips = [], port } = services[callee] ?? { port: 0 };
            return ips.length > 0 ? [toService(ips, port)] : [];
        }),
    ];
}
