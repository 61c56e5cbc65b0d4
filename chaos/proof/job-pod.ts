import type { V1ContainerStatus, V1Pod } from "../values/kubernetes-types";
import { kubectlFor } from "../values/kubectl";
import { type Cluster, statusOf, unlessUnreadable } from "../cluster/client";
import { addressesOf, isActive, whyNotRunning } from "../values/kubernetes-rules";
import { annotations, selectorOf } from "../cluster/labels";
import { ofJob } from "../pods/job-name";
import { jobTypes, otherResources, resources } from "../cluster/resources";
import { isAttack, type Plan } from "../definition/plan";
import { whyUselessToJob } from "../ending/left";
import { deadlineContainer, type Presence } from "../witness/protocol";
import { parseJson } from "../values/json";
import { quoted } from "../values/quoted";
import { reason, type Reason, ReasonError } from "../values/reasons";
import { poll } from "../values/async";
import { JobLogReader, type JobReports } from "./job-log-reader";

/** How long the deadline Job may take to start: its image may have to be pulled. */
export const startTimeoutMs = 120_000;

/** A pod that ends is replaced within this time, in milliseconds; see `replacedAtOnce` in witness/deadline.ts. */
const replacedMs = 15_000;

/** Lines of the log in which the last message is looked for: reports, in JSON, stand between messages. */
const tailLines = 200;

/** A Job that the cluster lets have a pod gets it sooner, in milliseconds. */
const createdAfterMs = 2_000;

/** The pod of a deadline Job: what it says about itself, and what it has logged. */
export class JobPod {
    private readonly log: JobLogReader;
    /** The Job's, once it is known. */
    private uid?: string;

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
        const isRunning = (pod: V1Pod) => programOf(pod)?.state?.running !== undefined;
        await this.awaited(async () => (await this.pods()).find(isActive), isRunning, timeoutMs);
    }

    /**
     * Wants the Job to run now: what is about to begin, nothing else would end. What an earlier pod has noted does not
     * count. Waits 15 s for a pod that has just been replaced.
     *
     * @throws Error if it does not run
     */
    async requireRunning(plan: Plan): Promise<void> {
        await this.requireParts();
        await (isAttack(plan) ? this.awaitPresence(replacedMs, () => true) : this.awaitStart(replacedMs));
    }

    /** @throws ReasonError as `whyPartsLacking` says */
    async requireParts(): Promise<void> {
        const lacking = await this.whyPartsLacking();
        if (lacking !== undefined) throw new ReasonError(lacking.code, lacking.message, "Start another run");
    }

    /** Why the Job cannot end the run: it, or a part of it, is gone or useless. Unreadable parts count as there. */
    async whyPartsLacking(): Promise<Reason | undefined> {
        const { cluster, namespace, job: name } = this;
        const looks = await Promise.all(
            jobTypes.map(async (resource) => {
                const found = await unlessUnreadable(cluster.get({ resource, name, namespace }));
                const why = found === undefined ? "is gone" : whyUselessToJob(resource, found);
                if (why === undefined) return undefined;
                if (resource === resources.job)
                    return this.saying(found === undefined ? `${why}: somebody has deleted it` : why);
                return `the ${resource.kind} ${name} ${why}, without which the Job of that name may not undo the run`;
            }),
        );
        const lacking = looks.find((one) => one !== undefined);
        if (lacking === undefined) return undefined;
        // The Job gives up its rights itself when it has ended the run, and says why.
        const said = await this.lastMessage((await this.pods()).findLast(hasStarted));
        return reason("job-not-running", `${lacking}${said}`);
    }

    private readonly saying = (what: string) => `the Job ${this.job}, which must undo the run at its deadline, ${what}`;

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
        if (pod && why === undefined && programOf(pod)?.state?.running) throw await this.silent(pod, after);
        throw new ReasonError(
            "job-not-running",
            this.saying(`has no running pod${after}${why === undefined ? "" : `: its status says ${why}`}`),
            // The events outlive the pod.
            `See its events: ${kubectlFor(this.cluster, this.namespace)} get events --field-selector ` +
                "involvedObject.kind=Pod --sort-by .lastTimestamp",
        );
    }

    /** A pod that runs, and does not say what is awaited: it may not reach the API server, or a target. */
    private async silent({ metadata }: V1Pod, after: string): Promise<ReasonError> {
        const name = metadata!.name!;
        const said = await this.lastMessage({ metadata });
        return new ReasonError(
            "job-not-running",
            `the pod ${name} of the Job that must undo the run at its deadline runs, but has not reported what the ` +
                `run waits for${after}${said}`,
            "Let pods of the namespace reach the API server and the targets, and start another run",
        );
    }

    /** What a pod's log says last, as the end of a sentence. Empty if that is not known. */
    private async lastMessage(pod: V1Pod | undefined): Promise<string> {
        if (pod === undefined) return "";
        const of = { name: pod.metadata!.name!, namespace: this.namespace };
        const log = await this.cluster.log(of, { tailLines }).catch(() => "");
        const said = log.split("\n").findLast((line) => line !== "" && parseJson(line) === undefined);
        return said === undefined ? "" : `; its log says ${quoted(said)}`;
    }

    /** Where it accepts connections, and from where it connects: of each family one. @throws as `awaitPresence` does */
    async addresses(timeoutMs: number): Promise<string[]> {
        const { address, addresses = [address] } = await this.awaitPresence(timeoutMs, () => true);
        return addresses;
    }

    /** What the Job's pods have logged so far, in order of time. */
    async read(): Promise<JobReports> {
        // A container that has not started has no log; the API server answers with an error (400) then.
        const started = (await this.pods()).filter(hasStarted);
        return this.log.read(started.map(({ metadata }) => metadata!.name!));
    }

    /**
     * An account that may not list events waits instead.
     *
     * @throws Error with the reason, if the Job is gone, or a quota, a limit or an admission policy keeps it from
     *   creating its pod
     */
    private async requireAdmission(): Promise<void> {
        const { cluster, namespace, job } = this;
        if ((await this.pods()).length > 0) return;
        // Events are found by uid: a Job of an earlier run may have had the name, and events outlive it.
        const found = await cluster.get({ resource: resources.job, name: job, namespace });
        if (found === undefined) {
            const message = this.saying("is gone: somebody has deleted it");
            throw new ReasonError("job-not-running", message, "Start another run");
        }
        const fieldSelector = `involvedObject.uid=${found.metadata!.uid},reason=FailedCreate`;
        const events = await cluster.all(otherResources.event, { namespace, fieldSelector }).catch((error: unknown) => {
            if (statusOf(error) !== 403) throw error;
            return [];
        });
        const said = events.at(-1)?.message?.replace(/^Error creating: /, "");
        if (said === undefined) return;
        throw new ReasonError(
            "no-room",
            `namespace ${namespace} admits no pod of the Job ${job}, which must undo the run at its deadline: ` +
                `an Event says ${quoted(said)}`,
            "Make room for one pod, or allow it",
        );
    }

    /** What the pod says about itself that runs now. Its addresses are those that the kubelet gives. */
    private async presence(): Promise<Presence | undefined> {
        const pod = (await this.pods()).find(isActive);
        const container = pod && programOf(pod);
        const noted = parseJson(pod?.metadata!.annotations?.[annotations.witness] ?? "") as Presence | undefined;
        if (!container || !mayRun(container) || !Array.isArray(noted?.watched)) return undefined;
        // A container that is restarted keeps its pod's annotations. Its own start may be noted up to seconds after its
        // program had begun, on a busy node. The end of the one before was before that.
        const lastEndedAt = container.lastState?.terminated?.finishedAt;
        if (lastEndedAt && (noted.begun ?? Infinity) < new Date(lastEndedAt).getTime()) return undefined;
        const addresses = addressesOf(pod);
        return addresses.length === 0 ? noted : { ...noted, address: addresses[0]!, addresses };
    }

    /** The Job's own, the oldest first. Anybody who may create pods can give them its label. */
    private async pods(): Promise<V1Pod[]> {
        const { cluster, namespace, job: name } = this;
        this.uid ??= (await cluster.get({ resource: resources.job, name, namespace }))?.metadata!.uid;
        const labelSelector = selectorOf({ [ofJob]: name });
        const items = await cluster.all(resources.pod, { namespace, labelSelector });
        const isOwn = ({ metadata }: V1Pod) =>
            metadata!.ownerReferences?.some(({ controller, uid }) => controller && uid === this.uid);
        const createdAt = ({ metadata }: V1Pod) => new Date(metadata!.creationTimestamp ?? 0).getTime();
        return items.filter(isOwn).sort((a, b) => createdAt(a) - createdAt(b));
    }
}

const hasStarted = ({ status }: V1Pod) =>
    status?.containerStatuses?.some(({ state }) => state?.running || state?.terminated) ?? false;

/** A program that has noted something runs, although the kubelet says so up to a second later: 0.5 s of each run. */
const mayRun = ({ state, lastState }: V1ContainerStatus) =>
    state?.running !== undefined || (state?.waiting?.reason === "ContainerCreating" && !lastState?.terminated);

/** The container with the Job's program. Undefined if the kubelet does not say anything of it yet. */
const programOf = ({ status }: V1Pod) => status?.containerStatuses?.find(({ name }) => name === deadlineContainer);
