import type { V1Pod } from "../values/kubernetes-types";
import type { Delivery } from "../kinds/actions/beside";
import { besides } from "../kinds/actions/registry";
import { objectNameOf } from "../kinds/attacks/registry";
import type { Cluster } from "../cluster/client";
import { resources } from "../cluster/resources";
import type { Plan } from "../definition/plan";
import { pause, poll } from "../values/async";
import { isActive, whyNotRunning } from "../values/kubernetes-rules";
import { quoted, wordOf } from "../values/quoted";

/** The kubelet's clock and this machine's run apart, and lines take a moment to arrive. */
const overlapSeconds = 3;
const readEveryMs = 3_300;
/** A busy kubelet shows a log so late, and a line is written once a second, in milliseconds. */
const shownMs = 3_000;

/** The pod of an action that goes on beside a run: what it does by its log, which it writes line by line. */
export class BesidePod {
    private readonly reader;
    private readonly containers: string[];
    private readonly lastLinesMs: number;
    private readAt?: number;

    /** @param sinceSeconds how much of the log is read at first. @default the whole */
    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
        readonly name: string,
        { action, beside }: ReturnType<typeof besides>[number],
        private readonly sinceSeconds?: number,
    ) {
        this.reader = beside.reader(action);
        this.containers = beside.containers(action);
        this.lastLinesMs = beside.settlesMs(action) + shownMs;
    }

    /** Reads what is new in the log. @returns whether it could be read */
    async read(): Promise<boolean> {
        const { cluster, namespace, name, readAt } = this;
        const now = Date.now();
        const since = readAt && Math.ceil(Math.max(0, now - readAt) / 1_000) + overlapSeconds;
        // A container that has not started has no log, nor has a pod that is gone.
        const reading = this.containers.map((container) =>
            cluster.log({ namespace, name }, { container, sinceSeconds: since ?? this.sinceSeconds }),
        );
        const logs = await Promise.all(reading).catch(() => undefined);
        if (logs === undefined) return false;
        this.reader.read(logs.join("\n"), Date.now());
        this.readAt = now;
        return true;
    }

    /** What was done in the last seconds in a row of which all is known. Undefined if there are not so many. */
    async last(seconds: number): Promise<Delivery | undefined> {
        await this.read();
        return this.reader.last(seconds);
    }

    /** What was done in a time of this machine's clock, once all is known of it, or will not be. */
    async between(from: number, to: number): Promise<Delivery> {
        const isKnown = async () => {
            await this.read();
            return this.reader.isKnown(from, to) || (await this.whyOver()) !== undefined;
        };
        await poll(isKnown, Boolean, this.lastLinesMs, 300);
        const problem = await this.whyOver();
        return { ...this.reader.between(from, to), ...(problem !== undefined && { problem }) };
    }

    /** Reads until told to stop: the clocks are compared by each read. */
    async follow(signal: AbortSignal): Promise<void> {
        for (; !signal.aborted; await pause(readEveryMs, signal)) await this.read();
    }

    /** Why the pod has ended, or will. Undefined as long as it may run, and if that is not known. */
    async whyOver(): Promise<string | undefined> {
        const { cluster, namespace, name } = this;
        const unknown = "unknown";
        const pod = await cluster.get({ resource: resources.pod, namespace, name }).catch(() => unknown);
        if (pod === unknown) return undefined;
        const found = pod as V1Pod | undefined;
        if (found === undefined) return `its pod ${name} is gone`;
        const ended = found.status?.containerStatuses?.find(({ state }) => state?.terminated)?.state?.terminated;
        if (isActive(found) && ended === undefined) return undefined;
        if (found.metadata?.deletionTimestamp !== undefined) return `its pod ${name} was deleted`;
        const why = ended?.reason ?? found.status?.reason;
        const said = ended?.message?.trim().split("\n").at(-1);
        return (
            `its pod ${name} has ended${why === undefined ? "" : ` (${wordOf(why)})`}` +
            (said ? `, and its log ends with ${quoted(said)}` : "")
        );
    }

    /** Why it is not what it was to be, by its log. @param runs as of `BesideReader` */
    whyUnfit(runs: boolean): string | undefined {
        return this.reader.whyUnfit(runs);
    }

    /** Why the pod does not run yet, in the words of the cluster. Undefined if that does not say. */
    async whyNotRunning(): Promise<string | undefined> {
        const { cluster, namespace, name } = this;
        const pod = await cluster.get({ resource: resources.pod, namespace, name });
        return pod && whyNotRunning(pod);
    }
}

/** The pods of a run. @param sinceSeconds as of `BesidePod` */
export const besidePodsOf = (cluster: Cluster, { namespace, actions }: Plan, runName: string, sinceSeconds?: number) =>
    besides(actions).map(
        (one) => new BesidePod(cluster, namespace, objectNameOf(runName, one.part), one, sinceSeconds),
    );
