import type { V1Pod } from "@kubernetes/client-node";
import type { Proof } from "../attacks/kind";
import type { Cluster } from "../cluster/client";
import { annotations } from "../cluster/labels";
import {
    addressOf,
    type ConnectionReport,
    deadlineContainer,
    endpoint,
    type KillReport,
    type Presence,
} from "../deadline/protocol";
import { describeMilliseconds } from "../duration";
import type { Target } from "../targets/containers";
import type { Working } from "./allowing-policies";
import { socketsOf } from "./connections";
import { becameOf, type Established } from "./established";
import { JobLogReader } from "./job-log-reader";
import { enforcementAdvice, type Inconclusive, type InconclusiveReason, type Witnessed } from "./outcome";
import { poll } from "./poll";

/** How long the deadline Job may take to start: its image may have to be pulled. */
export const startTimeoutMs = 120_000;

/**
 * The longest time without a report, in milliseconds. Within a longer one the attack may have ended and begun again.
 */
const maxSilenceMs = 10_000;

/**
 * How long a port that must still accept connections may refuse them, in milliseconds: each look takes at most a
 * second, so several have failed by then.
 */
const maxRefusedMs = 3_000;

/** What the Job's pod says about itself, and its name. */
type Seen = Presence & { pod: string };

/** What the deadline Job, an ordinary pod of the targets' namespace, saw of an attack's targets. */
export class Witness {
    /** What must be unreachable under attack. Empty if the attack does not block connections into the targets. */
    private readonly endpoints: readonly string[];
    private readonly log: JobLogReader;

    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
        private readonly job: string,
        /** Value of the label on the targets' pods. */
        private readonly targetLabel: string,
        private readonly targets: readonly Target[],
        private readonly inward: Proof["inward"],
    ) {
        this.log = new JobLogReader(cluster, namespace);
        this.endpoints = inward ? this.blocked().map(({ host, port }) => endpoint(host, port)) : [];
    }

    /** Waits until the Job's pod has looked at all targets, whatever it saw. @throws as `awaitPresence` does */
    async begun(): Promise<void> {
        await this.awaitPresence(startTimeoutMs, ({ watched }) => this.areAllIn(watched));
    }

    /** The Job's pod, which accepts connections at this address. @throws as `awaitPresence` does */
    async place(timeoutMs: number): Promise<{ namespace: string; pod: string; container: string; address: string }> {
        const { pod, address } = await this.awaitPresence(timeoutMs, () => true);
        return { namespace: this.namespace, pod, container: deadlineContainer, address };
    }

    /** @throws Error if the Job's pod does not report what is enough in time */
    private async awaitPresence(timeoutMs: number, isEnough: (presence: Seen) => boolean): Promise<Seen> {
        const reported = (presence?: Seen) => presence !== undefined && isEnough(presence);
        const presence = await poll(() => this.presence(), reported, timeoutMs);
        if (presence && isEnough(presence)) return presence;
        throw new Error(
            `the Job ${this.job}, which must end the attack at its deadline, has no running pod after ` +
                `${timeoutMs / 1_000} s. See why: kubectl --namespace ${this.namespace} describe pod ` +
                `--selector batch.kubernetes.io/job-name=${this.job}`,
        );
    }

    /** Since when fresh connections to all targets fail that had worked before; or why that is not shown. */
    async cut(): Promise<Witnessed | Inconclusive> {
        const reports = await this.reports();
        const askedAt = performance.now();
        const last = reports.at(-1);
        if (!this.inward && last) return { askedAt, witnessedAt: last.at };
        const control = this.endpoints.length > 0 ? reports.find(({ open }) => this.areAllIn(open)) : undefined;
        const cut = control && reports.find(({ at, closed }) => at > control.at && this.areAllIn(closed));
        if (cut) return { askedAt, witnessedAt: cut.at };
        if (!control) return { inconclusive: this.noControl(reports) };
        return { inconclusive: notEnforced(last), working: this.working() };
    }

    /** Whether the targets have been cut off ever since, as far as the Job saw. @returns why not */
    async stillCut({ askedAt, witnessedAt }: Witnessed): Promise<Inconclusive | undefined> {
        const reports = (await this.reports()).filter(({ at }) => at >= witnessedAt);
        // Reports without a change share their lists.
        const distinct = (state: "open" | "closed") => [...new Set(reports.map((report) => report[state]))];
        const own = new Set(this.endpoints);
        const leak = distinct("open")
            .flat()
            .find((endpoint) => own.has(endpoint));
        if (leak) {
            const inconclusive = `the target ${this.podAt(leak)} became reachable again during the run, at ${leak}`;
            return { inconclusive, working: this.working() };
        }
        // A pod without the label is not attacked, and the Job does not look at it.
        const unlabeled = distinct("closed")
            .map((closed) => this.missingIn(closed))
            .find((missing) => missing);
        if (unlabeled) {
            const target = `${this.podAt(unlabeled)}, at ${unlabeled},`;
            return { inconclusive: `the target ${target} lost its label during the run, and with it the attack` };
        }
        const now = witnessedAt + performance.now() - askedAt;
        const moments = [witnessedAt, ...reports.map(({ at }) => at), now];
        const silenceMs = moments.slice(1).reduce((most, at, index) => Math.max(most, at - moments[index]!), 0);
        if (silenceMs <= maxSilenceMs) return undefined;
        const silence = describeMilliseconds(silenceMs);
        return { inconclusive: `the Job that watches the targets reported nothing for ${silence} of the run` };
    }

    /**
     * The first of some ports that accepted a connection once, and then none for a time that no slow connection
     * explains. Ports that never accepted one say nothing.
     *
     * @param from when that time may begin, by the Job's clock
     */
    async lostAmong(sockets: readonly { host: string; port: number }[], from: number): Promise<string | undefined> {
        const reports = await this.reports();
        const wanted = new Set(sockets.map(({ host, port }) => endpoint(host, port)));
        const opened = new Set<string>();
        const closedSince = new Map<string, number>();
        for (const { at, open, closed } of reports) {
            for (const one of open) {
                opened.add(one);
                closedSince.delete(one);
            }
            for (const one of closed) {
                if (at < from || !wanted.has(one) || !opened.has(one)) continue;
                const since = closedSince.get(one) ?? at;
                closedSince.set(one, since);
                if (at - since >= maxRefusedMs) return one;
            }
        }
        return undefined;
    }

    /** What became of the connections to the targets that the Job had before the attack. */
    async established({ witnessedAt }: Witnessed): Promise<Established> {
        if (!this.inward) return { became: "unknown", reason: "the attack denies no connections from the witness" };
        const targets = new Map<string, string[]>();
        for (const name of this.endpoints) {
            const { host } = addressOf(name);
            targets.set(host, [...(targets.get(host) ?? []), name]);
        }
        return becameOf(await this.reports(), [...targets.values()], witnessedAt);
    }

    /** The pods that the Job has deleted for this attack. */
    async kills(): Promise<KillReport[]> {
        return (await this.read()).kills.filter(({ killed }) => killed.label === this.targetLabel);
    }

    /** The sockets of the targets that the attack blocks. */
    private blocked(): { host: string; port: number }[] {
        return socketsOf(this.targets, (port) => this.inward?.ports?.includes(port) ?? true);
    }

    /** The connections that the Job tries. */
    private working(): Working {
        return { ways: ["ingress"], ports: this.blocked().map(({ port }) => port), with: "witness" };
    }

    /** The target's pod that an endpoint belongs to. */
    private podAt(wanted: string): string | undefined {
        return this.targets.find(({ address, ports }) => ports.some((port) => endpoint(address, port) === wanted))?.pod;
    }

    private areAllIn(found: readonly string[]): boolean {
        return found.length >= this.endpoints.length && this.missingIn(found) === undefined;
    }

    /** The first of the endpoints that is not among those found. */
    private missingIn(found: readonly string[]): string | undefined {
        const all = new Set(found);
        return this.endpoints.find((endpoint) => !all.has(endpoint));
    }

    private noControl(reports: readonly ConnectionReport[]): InconclusiveReason {
        if (reports.length === 0) {
            return "the Job that watches the targets reported nothing, so it is unknown whether they can be reached";
        }
        if (this.endpoints.length === 0) {
            return "the targets declare no TCP port that the attack blocks, so the attack cannot be proven";
        }
        return "the targets were unreachable even before the attack began";
    }

    private async presence(): Promise<Seen | undefined> {
        const runs = ({ metadata, status }: V1Pod) =>
            !metadata!.deletionTimestamp && status?.phase !== "Succeeded" && status?.phase !== "Failed";
        const pod = (await this.pods()).find(runs);
        const reported = pod?.metadata!.annotations?.[annotations.witness];
        return reported === undefined
            ? undefined
            : { ...(JSON.parse(reported) as Presence), pod: pod!.metadata!.name! };
    }

    private async pods(): Promise<V1Pod[]> {
        const { namespace, job } = this;
        const labelSelector = `batch.kubernetes.io/job-name=${job}`;
        return (await this.cluster.core.listNamespacedPod({ namespace, labelSelector })).items;
    }

    private async reports(): Promise<ConnectionReport[]> {
        return (await this.read()).reports;
    }

    private async read() {
        // A container that has not started has no log; the API server answers with an error (400) then.
        const started = (await this.pods()).filter(({ status }) =>
            status?.containerStatuses?.some(({ state }) => state?.running || state?.terminated),
        );
        return this.log.read(started.map(({ metadata }) => metadata!.name!));
    }
}

function notEnforced(last: ConnectionReport | undefined): InconclusiveReason {
    const open = last?.open.join(", ") ?? "the target";
    return `the NetworkPolicy exists, but ${open} still accepted fresh connections: ${enforcementAdvice}`;
}
