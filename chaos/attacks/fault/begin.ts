import type { V1Service } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../../cluster/client";
import { problemOf } from "../../cluster/problem";
import { change } from "../../cluster/change";
import { objectApi } from "../../cluster/objects";
import { resources } from "../../cluster/resources";
import { endAttacks } from "../../ending/end";
import { ofPlan } from "../../ending/left";
import { nextPointing } from "./pointing";
import { poll } from "../../proof/poll";
import { decisive, reason, type Reason } from "../../reasons";
import { isReady } from "../../targets/containers";
import { whyBegunTooLate } from "../../steps/attacks-last";
import type { StepContext, StepInputs } from "../../steps/contract";

/** How long a proxy may take to be ready: its image may have to be pulled. */
const readyWithinMs = 120_000;

type Given = Pick<StepInputs, "steadyState" | "targets" | "attackObjects">;

/**
 * Points the Services of faults to their proxies, once these are ready: the faults begin.
 *
 * @returns why there is no fault: a proxy does not work, somebody has changed a Service, or the attacks are over, and
 *   then no Service points to a proxy
 */
export async function beginFaults(context: StepContext, given: Given): Promise<Reason | undefined> {
    const { plan, cluster } = context;
    const { namespace } = plan;
    const { targets, attackObjects, steadyState } = given;
    const run = steadyState.runName;
    const faults = targets.attacks.flatMap(({ proxied }, index) =>
        proxied ? [{ proxied, proxy: attackObjects[index]! }] : [],
    );
    if (faults.length === 0) return undefined;
    const notReady = await Promise.all(faults.map(({ proxy }) => whyNotReady(context, proxy)));
    let problem = decisive(notReady);
    try {
        if (problem === undefined)
            for (const { proxied, proxy } of faults)
                await pointAt(cluster, namespace, proxied.service, { proxy, run, selector: proxied.selector });
    } catch (error) {
        problem = reason("service-changed", `${problemOf(error)}. Start another run`);
    }
    const over = await whyBegunTooLate(plan, cluster, given);
    // What fails is tried again by the undo.
    if (over !== undefined) await endAttacks(objectApi(cluster), ofPlan(plan, run)).catch(() => undefined);
    return decisive([problem, over]);
}

/** Points a Service to a fault's proxy: the fault begins. @throws Error as `nextPointing` does, or if it is gone */
export async function pointAt(
    cluster: Cluster,
    namespace: string,
    name: string,
    to: Parameters<typeof nextPointing>[1],
): Promise<void> {
    const service = { resource: resources.service, namespace, name };
    if (!(await change<V1Service>(objectApi(cluster), service, (current) => nextPointing(current, to))))
        throw new Error(`the Service ${name} is gone`);
}

async function whyNotReady({ cluster, plan }: StepContext, proxy: string): Promise<Reason | undefined> {
    const { namespace } = plan;
    const look = () =>
        ignoreNotFound(cluster.core.readNamespacedPod({ name: proxy, namespace })).catch(() => undefined);
    const isOver = (pod: object | undefined) => pod === undefined || isReady(pod) || hasEnded(pod);
    const found = await poll(look, isOver, readyWithinMs);
    if (found !== undefined && isReady(found)) return undefined;
    const describing = `kubectl --namespace ${namespace} describe pod ${proxy}`;
    return reason("proxy-failed", `the fault's proxy, pod ${proxy}, is not ready; see why: ${describing}`);
}

const hasEnded = ({ status }: { status?: { phase?: string } }) =>
    status?.phase === "Failed" || status?.phase === "Succeeded";
