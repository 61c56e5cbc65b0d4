import type { Through } from "../attacks/kind";
import type { V1Service } from "@kubernetes/client-node";
import { setTimeout as sleep } from "node:timers/promises";
import { targetLabelOf } from "../cluster/labels";
import { resources } from "../cluster/resources";
import { noteOf } from "../fault/pointing";
import { inTurns } from "../async";
import { probeThrough, type Probed } from "../proxy/probe";
import { isReady, type Pod } from "../targets/containers";
import { log, objectApi } from "./api";
import { behind, type JobAttack } from "./protocol";

/** Time between two looks. */
const pauseMs = 1_000;
const maxProbing = 200;
/** Nothing is waited for longer: what has not come by then is delayed, or hangs. */
const longestMs = 2_000;
/** A timer may fire a moment early. */
const heldShare = 0.9;
/** What is not delayed comes within this time, on a busy machine, too. */
const undelayedMs = 1_000;

/**
 * Meets the pods of a Service as its callers do, again and again: through the Service, by the proxy's probes. `closed`
 * is a pod whose traffic is delayed or aborted as the fault says, or a pod that is no target and is affected; `open`
 * one that answers at once. What cannot be reached is neither.
 */
export class FaultProbes {
    private found: { open: string[]; closed: string[] } = { open: [], closed: [] };

    constructor(
        private readonly namespace: string,
        private readonly run: string,
        private readonly attack: JobAttack & { through: Through },
    ) {}

    /** What the last look has found. */
    get last(): { open: readonly string[]; closed: readonly string[] } {
        return this.found;
    }

    /** @param ending no look begins any more */
    async lookAgainAndAgain(ending: AbortSignal): Promise<void> {
        while (!ending.aborted) {
            const begun = performance.now();
            await this.look().catch(log);
            await sleep(Math.max(0, begun + pauseMs - performance.now()));
        }
    }

    private async look(): Promise<void> {
        const { service } = this.attack.through;
        const { namespace } = this;
        const found = await objectApi.get({ resource: resources.service, namespace, name: service });
        const { spec, metadata } = (found ?? {}) as V1Service;
        if (spec === undefined) return;
        const selector = noteOf({ metadata })?.selector ?? spec.selector ?? {};
        const labelSelector = Object.entries(selector)
            .map(([key, value]) => `${key}=${value}`)
            .join();
        const pods: Pod[] = [];
        for await (const pod of objectApi.list(resources.pod, namespace, labelSelector))
            if (isReady(pod as Pod)) pods.push(pod as Pod);
        const probes = pods.flatMap((pod) => (spec.ports ?? []).map(({ port }) => ({ pod, port })));
        const seen = await inTurns(probes, maxProbing, async ({ pod, port }) => {
            const isTarget = targetLabelOf(pod) === this.attack.label;
            const { name, uid } = pod.metadata as { name: string; uid: string };
            const at = { host: spec.clusterIP!, port };
            const timeoutMs = isTarget ? timeoutFor(this.attack.through) : undelayedMs;
            const probed = await probeThrough(at, this.run, uid, timeoutMs);
            return { name: behind(service, port, name), state: stateOf(probed, isTarget, this.attack.through) };
        });
        const those = (wantedState: "open" | "closed") =>
            seen.flatMap(({ name, state }) => (state === wantedState ? name : []));
        this.found = { open: those("open"), closed: those("closed") };
    }
}

const timeoutFor = ({ delayMs }: Through) =>
    delayMs > 0 ? Math.min(delayMs * heldShare + undelayedMs, longestMs) : undelayedMs;

/** @returns undefined if the pod was not reached, or not through the proxy, which shows nothing */
export function stateOf(
    probed: Probed,
    isTarget: boolean,
    { delayMs, abort }: Pick<Through, "delayMs" | "abort">,
): "open" | "closed" | undefined {
    switch (probed.saw) {
        case "bypassed":
            return "open";
        case "refused":
        case "unreachable":
        case "unknown":
            return undefined;
        case "silent":
            // Nothing is waited for longer than a part of the delay.
            return !isTarget || delayMs > 0 || abort === "hang" ? "closed" : undefined;
        default: {
            if (!isTarget) return probed.saw === "connected" ? "open" : "closed";
            const wasAborted =
                probed.saw === "status" ? probed.status === abort : probed.saw === (abort ?? "connected");
            return wasAborted && probed.afterMs >= delayMs * heldShare ? "closed" : "open";
        }
    }
}
