import {
    fromAnybody,
    fromPods,
    type NetworkPoliciesArgs,
    toApiServer,
    toDns,
    toPods,
    type Traffic,
} from "../base/network-policies";
import { brokerPort } from "./broker";
import { databasePort } from "./database";
import { programPort } from "./http-service";

interface Workload {
    port: number;
    /** The workloads that connect to its port. The kubelet's probes are always allowed. */
    callers: readonly string[] | "anybody";
    /** @default false */
    asksApiServer?: boolean;
}

const departments = ["fashion-bestseller", "toys-bestseller", "hot-deals"] as const;

/**
 * Who may talk to whom. Both variants have the same list: changing the variant changes no other workload's policy.
 *
 * Whoever calls another workload looks up its name. The database and the broker call nobody.
 */
const workloads: Record<string, Workload> = {
    // By its Service, through an Ingress, or through the API server's proxy.
    gateway: { port: programPort, callers: "anybody", asksApiServer: true },
    ...Object.fromEntries(departments.map((name) => [name, { port: programPort, callers: ["gateway"] }])),
    database: { port: databasePort, callers: [...departments, "orders", "inventory"] },
    orders: { port: programPort, callers: ["gateway"] },
    inventory: { port: programPort, callers: [] },
    "message-broker": { port: brokerPort, callers: ["orders", "inventory"] },
};

/** The label of a workload's pods, by which its Deployment and its Service select them, too. */
const labelsOf = (workload: string) => ({ app: workload });

/** The shop's NetworkPolicies. @param names the workloads that there are */
export function shopPolicies(names: readonly string[]): Omit<NetworkPoliciesArgs, "namespace"> {
    return {
        pods: { matchExpressions: [{ key: "app", operator: "In", values: Object.keys(workloads) }] },
        allowed: Object.fromEntries(names.map((name) => [name, trafficOf(name)])),
    };
}

function trafficOf(name: string): Traffic {
    const { port, callers, asksApiServer } = workloads[name]!;
    const calls = Object.entries(workloads).filter(([, callee]) => callee.callers.includes(name));
    const egress = [
        ...calls.map(([callee, { port }]) => toPods(labelsOf(callee), port)),
        ...(calls.length > 0 ? [toDns] : []),
        ...(asksApiServer ? [toApiServer] : []),
    ];
    return {
        pods: labelsOf(name),
        ...(callers.length > 0 && {
            ingress: [callers === "anybody" ? fromAnybody(port) : fromPods(callers.map(labelsOf), port)],
        }),
        ...(egress.length > 0 && { egress }),
    };
}
