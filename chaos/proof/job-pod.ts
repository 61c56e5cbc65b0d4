import type { V1Pod } from "@kubernetes/client-node";
import { kubectlFor } from "../kubectl";
import { type Cluster, statusOf } from "../cluster/client";
import { isActive, whyNotRunning } from "../cluster/kubernetes-rules";
import { annotations } from "../cluster/labels";
import type { Presence } from "../job/protocol";
import { quoted } from "../quoted";
import { ReasonError } from "../reasons";
import { poll } from "../async";
import { JobLogReader, type JobReports } from "./job-log-reader";

/** How long the deadline Job may take to start: its image may have to be pulled. */
export const startTimeoutMs = 120_000;

/** A Job that the cluster lets have a pod gets it sooner, in milliseconds. */
const createdAfterMs = 2_000;

/** The pod of a deadline Job: what it says about itself, and what it has logged. */
export class JobPod {
    private readonly log: JobLogReader;

    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
        private readonly job: string,
    ) {
        this.log = new JobLogReader(cluster, namespace);
    }

    /** @throws Error if the cluster rejects the pod, or the pod does not report what is enough in time */
    async awaitPresence(timeoutMs: number, isEnough: (presence: Presence) => boolean): Promise<Presence> {
        return this.awaited(() => this.presence(), isEnough, timeoutMs);
    }

    /** Waits until the Job's program runs. @throws Error if the cluster rejects the pod, or it does not run in time */
    async awaitStart(timeoutMs: number): Promise<void> {
        const isRunning = ({ status }: V1Pod) =>
            status?.containerStatuses?.some(({ state }) => state?.running) ?? false;
        await this.awaited(async () => (await this.pods()).find(isActive), isRunning, timeoutMs);
    }

    private async awaited<T>(
        find: () => Promise<T | undefined>,
        isEnough: (found: T) => boolean,
        timeoutMs: number,
    ): Promise<T> {
        const begun = performance.now();
        const look = async () => {
            const found = await find();
            if (found === undefined && performance.now() - begun > createdAfterMs) await this.requireAdmission();
            return found;
        };
        const found = await poll(look, (one) => one !== undefined && isEnough(one), timeoutMs);
        if (found !== undefined && isEnough(found)) return found;
        const after = timeoutMs > 0 ? ` after ${timeoutMs / 1_000} s` : "";
        const pod = (await this.pods()).find(isActive);
        const why = pod && whyNotRunning(pod);
        throw new ReasonError(
            "job-not-running",
            `the Job ${this.job}, which must undo the run at its deadline, has no running pod${after}` +
                (why === undefined ? "" : `: its status says ${why}`),
            // The events outlive the pod.
            `See its events: ${kubectlFor(this.cluster, this.namespace)} get events --field-selector ` +
                "involvedObject.kind=Pod --sort-by .lastTimestamp",
        );
    }

    /** Where it accepts connections, and from where it connects: of each family one. @throws as `awaitPresence` does */
    async addresses(timeoutMs: number): Promise<string[]> {
        const { address, addresses = [address] } = await this.awaitPresence(timeoutMs, () => true);
        return addresses;
    }

    /** What the Job's pods have logged so far, in order of time. */
    async read(): Promise<JobReports> {
        // A container that has not started has no log; the API server answers with an error (400) then.
        const started = (await this.pods()).filter(({ status }) =>
            status?.containerStatuses?.some(({ state }) => state?.running || state?.terminated),
        );
        return this.log.read(started.map(({ metadata }) => metadata!.name!));
    }

    /**
     * An account that may not list events waits instead.
     *
     * @throws Error with the reason, if a quota, a limit or an admission policy keeps the Job from creating its pod
     */
    private async requireAdmission(): Promise<void> {
        const { cluster, namespace, job } = this;
        if ((await this.pods()).length > 0) return;
        // By uid: a Job of an earlier run may have had the name, and events outlive it.
        const { metadata } = await cluster.batch.readNamespacedJob({ name: job, namespace });
        const fieldSelector = `involvedObject.uid=${metadata!.uid},reason=FailedCreate`;
        const events = await cluster.core.listNamespacedEvent({ namespace, fieldSelector }).catch((error: unknown) => {
            if (statusOf(error) !== 403) throw error;
            return { items: [] };
        });
        const said = events.items.at(-1)?.message?.replace(/^Error creating: /, "");
        if (said === undefined) return;
        throw new ReasonError(
            "no-room",
            `namespace ${namespace} admits no pod of the Job ${job}, which must undo the run at its deadline: ` +
                `an Event says ${quoted(said)}`,
            "Make room for one pod, or allow it",
        );
    }

    private async presence(): Promise<Presence | undefined> {
        const reported = (await this.pods()).find(isActive)?.metadata!.annotations?.[annotations.witness];
        return reported === undefined ? undefined : (JSON.parse(reported) as Presence);
    }

    private async pods(): Promise<V1Pod[]> {
        const { namespace, job } = this;
        const labelSelector = `batch.kubernetes.io/job-name=${job}`;
        return (await this.cluster.core.listNamespacedPod({ namespace, labelSelector })).items;
    }
}
