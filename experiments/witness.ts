import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "../shared/containers";
import { type Cluster, orMissing } from "../shared/kubernetes";
import type { Proof } from "./attacks/attack";
import { describeMilliseconds } from "../shared/duration";
import { annotations } from "../shared/labels";
import { type ConnectionReport, type KillReport, type Presence, watcher } from "./deadline/report";
import { type Doubt, enforcementAdvice, type Proven } from "./proof";
import { endpointsOf } from "./targets/chosen";

/** How long the deadline's Job is given to start; its image may have to be pulled. */
export const startMs = 120_000;

/** How long nobody need have looked at the targets, in milliseconds: what came and went within it may have been missed. */
const silenceMs = 10_000;

/** What the deadline's Job, an ordinary pod of the same namespace, saw of an attack's targets. */
export class Witness {
    /** What must not be reached under attack; empty where the attack does not concern that. */
    private readonly endpoints: readonly string[];

    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
        private readonly job: string,
        /** What the targets' pods are marked with. */
        private readonly mark: string,
        targets: readonly Target[],
        private readonly inward: Proof["inward"],
    ) {
        this.endpoints = inward ? endpointsOf(targets, inward.ports) : [];
    }

    /** Waits until the Job's pod runs and has looked at all the targets, whatever it saw. @throws as `present` does */
    async begun(): Promise<void> {
        await this.present(startMs, ({ watched }) => this.endpoints.every((endpoint) => watched.includes(endpoint)));
    }

    /** The address of the Job's pod, which takes connections from the targets. @throws as `present` does */
    async address(withinMs: number): Promise<string> {
        return (await this.present(withinMs, () => true)).address;
    }

    /**
     * What the Job's pod says of itself, once that is enough.
     *
     * @throws Error where it does not get so within the time
     */
    private async present(withinMs: number, enough: (presence: Presence) => boolean): Promise<Presence> {
        const giveUpAt = Date.now() + withinMs;
        for (;;) {
            const presence = await this.presence();
            if (presence && enough(presence)) return presence;
            if (Date.now() > giveUpAt) {
                throw new Error(
                    `the Job ${this.job}, which is to end the attack at its deadline, has no pod that watches, after ${withinMs / 1_000} s. ` +
                        `See why: kubectl --namespace ${this.namespace} describe pod --selector batch.kubernetes.io/job-name=${this.job}`,
                );
            }
            await sleep(50);
        }
    }

    /** When fresh connections to all targets failed that had worked before, by the Job's clock; else why that is not shown. */
    async cut(): Promise<{ at: number } | { at?: undefined; doubt: Doubt }> {
        const reports = await this.reports();
        if (!this.inward && reports.length > 0) return { at: reports.at(-1)!.at };
        const control =
            this.endpoints.length > 0
                ? reports.find(({ open }) => this.endpoints.every((endpoint) => open.includes(endpoint)))
                : undefined;
        const cut = reports.find(
            ({ at, closed }) =>
                control && at > control.at && this.endpoints.every((endpoint) => closed.includes(endpoint)),
        );
        if (cut) return { at: cut.at };
        return { doubt: control ? notEnforced(reports.at(-1)) : this.noControl(reports) };
    }

    /** Whether the targets have been cut off ever since, as far as the Job saw; else why not. */
    async stillCut({ attackedAt, witnessedAt }: Proven): Promise<Doubt | undefined> {
        const reports = (await this.reports()).filter(({ at }) => at >= witnessedAt);
        const leak = reports.flatMap(({ open }) => open).find((endpoint) => this.endpoints.includes(endpoint));
        if (leak) return `the targets could be reached again in the middle of the run, at ${leak}`;
        // Whoever is not marked any more is not attacked any more, and not asked either.
        const unmarked = this.endpoints.find((endpoint) => reports.some(({ closed }) => !closed.includes(endpoint)));
        if (unmarked) return `the target at ${unmarked} lost its mark in the middle of the run, and the attack with it`;
        const now = witnessedAt + Date.now() - attackedAt;
        const moments = [witnessedAt, ...reports.map(({ at }) => at), now];
        const longestMs = Math.max(...moments.slice(1).map((at, index) => at - moments[index]!));
        return longestMs > silenceMs
            ? `the Job that watches the targets said nothing for ${describeMilliseconds(longestMs)} of the run`
            : undefined;
    }

    /** The pods that the Job says it has deleted for this attack. */
    async kills(): Promise<KillReport[]> {
        return (await this.lines()).filter(
            (line): line is KillReport => "killed" in line && line.killed.mark === this.mark,
        );
    }

    private noControl(reports: readonly ConnectionReport[]): Doubt {
        if (reports.length === 0)
            return "the Job that watches the targets reported nothing, so nobody saw whether they can be reached";
        if (this.endpoints.length === 0)
            return "the targets declare no such TCP port, so nothing can show that they are cut off";
        return "the targets could not be reached even before the attack began";
    }

    private async presence(): Promise<Presence | undefined> {
        const pod = (await this.pods()).find(
            ({ metadata, status }) =>
                !metadata!.deletionTimestamp && status?.phase !== "Succeeded" && status?.phase !== "Failed",
        );
        const told = pod?.metadata!.annotations?.[annotations.witness];
        return told === undefined ? undefined : (JSON.parse(told) as Presence);
    }

    private async pods() {
        return (
            await this.cluster.core.listNamespacedPod({
                namespace: this.namespace,
                labelSelector: `batch.kubernetes.io/job-name=${this.job}`,
            })
        ).items;
    }

    private async reports(): Promise<ConnectionReport[]> {
        return (await this.lines()).filter((line): line is ConnectionReport => "open" in line);
    }

    private async lines(): Promise<(ConnectionReport | KillReport)[]> {
        const logs = await Promise.all(
            // A pod whose container has not started has no log, and the API server says so with an error (400).
            (await this.pods())
                .filter(({ status }) =>
                    status?.containerStatuses?.some(({ state }) => state?.running || state?.terminated),
                )
                .map(({ metadata }) =>
                    orMissing(
                        this.cluster.core.readNamespacedPodLog({
                            name: metadata!.name!,
                            namespace: this.namespace,
                            container: watcher,
                        }),
                    ),
                ),
        );
        return logs
            .flatMap((log) => (log ?? "").split("\n"))
            .filter((line) => line.startsWith("{") && line.endsWith("}"))
            .map((line) => JSON.parse(line) as ConnectionReport | KillReport)
            .sort((a, b) => a.at - b.at);
    }
}

function notEnforced(last: ConnectionReport | undefined): Doubt {
    return `the NetworkPolicy is there, but ${last?.open.join(", ") ?? "the target"} still took fresh connections: ${enforcementAdvice}`;
}
