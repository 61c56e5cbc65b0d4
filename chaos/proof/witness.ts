import type { Proof, Reported } from "../kinds/attacks/attack-kind";
import type { Cluster } from "../cluster/client";
import { type ConnectionReport, type KillReport, parseEndpoint, type RefusedEviction } from "../witness/protocol";
import { poll } from "../values/async";
import { describeMilliseconds } from "../values/duration";
import { reason, type Reason } from "../values/reasons";
import { onePerPod } from "../targets/pods";
import type { Target } from "../targets/containers";
import type { Working } from "./allowing-policies";
import { attackedEndpoints, endpointsOfTargets } from "./connections";
import { becameOf, type Established } from "./established";
import { JobPod, startTimeoutMs } from "./job-pod";
import { awaitBaseline, type Inconclusive, inconclusive, maxSilenceMs, sinceProven, type Witnessed } from "./outcome";
import { cutIn, hasAll, leakIn, lostAmong, silenceIn, unaffectedIn, unlabeledIn } from "./reports";
import { quoted } from "../values/quoted";

export interface WitnessArgs {
    cluster: Cluster;
    namespace: string;
    /** Name of the deadline Job. */
    job: string;
    /** Value of the label on the targets' pods. */
    targetLabel: string;
    targets: readonly Target[];
    /** Names of connections that did not work before the attack. @default none */
    leftOut?: readonly string[];
    /** Which connections into the targets the attack blocks. @default none */
    inward?: Proof["inward"];
    /** Set if the attack deletes the targets: then they lose their labels, too. @default false */
    deleted?: true;
    /** What must be closed in the Job's reports instead of connections, and what open. @default nothing */
    reported?: Pick<Reported, "hit" | "passed">;
}

/**
 * What the Job has reported may take so long to be read, in milliseconds: a busy kubelet says late that the container
 * runs. Two seconds were too short.
 */
export const readableMs = 30_000;

const connectionTo = (endpoint: string) => `to ${endpoint}`;

const noReport = inconclusive("witness-silent", "the Job that watches the targets has no report of before the attack");

/** What the deadline Job, an ordinary pod of the targets' namespace, saw of an attack's targets. */
export class Witness {
    /** What the attack blocks. Empty if it does not block connections into the targets. */
    private readonly attacked: readonly string[];
    /** What proves it: what answered before. What did not may still disprove it. */
    private readonly endpoints: readonly string[];
    /** What the Job tries of each target as long as that has its label, without which no attack applies to it. */
    private readonly watched: readonly string[][];
    private readonly jobPod: JobPod;

    constructor(private readonly args: WitnessArgs) {
        const { cluster, namespace, job, targets, inward, leftOut, deleted } = args;
        this.jobPod = new JobPod(cluster, namespace, job);
        this.attacked = attackedEndpoints(targets, inward);
        const perPod = onePerPod(targets).map(({ uid }) =>
            endpointsOfTargets(targets.filter((one) => one.uid === uid)),
        );
        this.watched = deleted ? [] : perPod.filter(({ length }) => length > 0);
        this.endpoints = this.attacked.filter((one) => !leftOut?.includes(connectionTo(one)));
    }

    /**
     * Waits until the Job's pod has tried all targets.
     *
     * @param patienceMs how long it may take to reach them all
     * @returns the connections to targets that do not work, or why a target is not seen
     * @throws Error if the Job does not start
     */
    async baseline(patienceMs: number): Promise<{ leftOut: string[] } | Inconclusive> {
        const areAllIn = hasAll(this.endpoints);
        await this.jobPod.awaitPresence(startTimeoutMs, ({ watched }) => areAllIn(watched));
        if (this.endpoints.length === 0) return { leftOut: [] };
        // Reports of an earlier pod of the Job, which may not have tried them, are read, too.
        const haveTriedAll = async () => (await this.jobPod.read()).reports.some((one) => this.areAllTriedIn(one));
        if (!(await poll(haveTriedAll, Boolean, readableMs, 250))) return noReport;
        return awaitBaseline(async () => {
            const last = (await this.jobPod.read()).reports.at(-1);
            return last === undefined ? noReport : this.notOpenIn(last);
        }, patienceMs);
    }

    private areAllTriedIn({ open, closed }: ConnectionReport): boolean {
        const tried = new Set([...open, ...closed]);
        return this.endpoints.every((endpoint) => tried.has(endpoint));
    }

    private notOpenIn(report: ConnectionReport): { leftOut: string[] } | Inconclusive {
        const { targets, inward } = this.args;
        const open = new Set(report.open);
        for (const { pod, uid } of onePerPod(targets)) {
            const containers = targets.filter((target) => target.uid === uid);
            const ofPod = attackedEndpoints(containers, inward);
            if (ofPod.length === 0 || ofPod.some((one) => open.has(one))) continue;
            const message = `nothing answered at ${ofPod.join(", ")} of ${pod} before the attack`;
            return inconclusive("baseline-failed", message);
        }
        return { leftOut: this.endpoints.filter((one) => !open.has(one)).map(connectionTo) };
    }

    /** Where the Job's pod accepts connections: an address of each family. @throws Error if it does not run by then */
    addresses(timeoutMs: number): Promise<string[]> {
        return this.jobPod.addresses(timeoutMs);
    }

    /** Since when fresh connections to all targets fail that had worked before; or why that is not shown. */
    async cut(): Promise<Witnessed | Inconclusive> {
        const { reports } = await this.jobPod.read();
        const askedAt = performance.now();
        const last = reports.at(-1);
        if (this.args.reported !== undefined) {
            const { hit, passed } = this.args.reported;
            if (hit.length === 0)
                return inconclusive("attack-not-proven", "no probe reached a target before the attack");
            if (!last || !hasAll(hit)(last.closed))
                return inconclusive("attack-not-proven", `probes were not affected: ${hit.join(", ")}`);
            if (hasAll(passed)(last.open)) return { askedAt, witnessedAt: last.at };
            const affected = passed.filter((name) => last.closed.includes(name)).join(", ");
            return affected === ""
                ? inconclusive("attack-not-proven", `not every probe was answered that the attack must leave alone`)
                : inconclusive("positive-control-failed", `the attack also affects what it should not: ${affected}`);
        }
        if (!this.args.inward && last) return { askedAt, witnessedAt: last.at };
        const { baseline, cut } = cutIn(reports, this.endpoints);
        if (cut) return { askedAt, witnessedAt: cut.at };
        if (!baseline || !last) return noReport;
        return { ...this.notEnforced(last), working: this.working() };
    }

    /** Whether the targets have been cut off ever since, as far as the Job saw. @returns why not */
    async whyNotCut({ askedAt, witnessedAt }: Witnessed): Promise<Inconclusive | undefined> {
        const reports = (await this.jobPod.read()).reports.filter(({ at }) => at >= witnessedAt);
        const unaffected = unaffectedIn(reports, this.args.reported?.hit ?? []);
        if (unaffected !== undefined) {
            const what = unaffected.was === "open" ? "was not affected" : "could not be reached";
            return inconclusive("attack-not-held", `${unaffected.name} ${what} at a moment of the run`);
        }
        const leak = leakIn(reports, this.attacked);
        if (leak !== undefined) {
            const message = `the target ${this.podAt(leak)} became reachable again during the run, at ${leak}`;
            return { ...inconclusive("attack-not-held", message), working: this.working() };
        }
        const unlabeled = unlabeledIn(reports, this.watched);
        if (unlabeled !== undefined) {
            const target = `${this.podAt(unlabeled)}, at ${unlabeled},`;
            return inconclusive("attack-not-held", `the target ${target} lost its label during the run`);
        }
        const silenceMs = silenceIn(reports, witnessedAt, witnessedAt + performance.now() - askedAt);
        if (silenceMs <= maxSilenceMs) return undefined;
        // What a Job that is silent now has seen may show later. A silence that has ended stays one.
        const mayPass = silenceIn(reports, witnessedAt, reports.at(-1)?.at ?? witnessedAt) <= maxSilenceMs;
        const silence = describeMilliseconds(silenceMs);
        const message = `the Job that watches the targets reported nothing for ${silence} of the run`;
        return { ...inconclusive("witness-silent", message), mayPass };
    }

    /**
     * What the Job could not reach for a time, although it could before, and whether it still cannot.
     *
     * @param names endpoints, and `reference`
     * @param since when the attack was seen to work, by the Job's clock
     * @param known those that it is known to have reached before
     */
    async lostAmong(
        names: readonly string[],
        since: number,
        known?: readonly string[],
    ): Promise<{ name: string; still: boolean }[]> {
        return lostAmong((await this.jobPod.read()).reports, names, since, known);
    }

    /** What became of the connections to the targets that the Job had before the attack. */
    async established({ witnessedAt }: Witnessed): Promise<Established> {
        if (!this.args.inward)
            return { became: "unknown", reason: "the attack denies no connections from the witness" };
        return becameOf((await this.jobPod.read()).reports, this.endpoints, witnessedAt);
    }

    /** The pods that the Job has deleted for this attack. */
    async kills(): Promise<KillReport[]> {
        const { kills } = await this.jobPod.read();
        return kills.filter(({ killed }) => killed.label === this.args.targetLabel);
    }

    /** The pods that the API server has refused to evict for this attack. */
    async refusals(): Promise<RefusedEviction[]> {
        const { refused } = await this.jobPod.read();
        return refused.filter(({ refused: { label } }) => label === this.args.targetLabel);
    }

    /** Why the Job has not killed pods as often as it should have. Undefined if it has. */
    async whyKillMissed({ witnessedAt }: Witnessed): Promise<Reason | undefined> {
        const { missed } = await this.jobPod.read();
        const first = missed.find(
            ({ at, missed: { label, forMs } }) => label === this.args.targetLabel && at + forMs >= witnessedAt,
        );
        if (first === undefined) return undefined;
        const { forMs, problem } = first.missed;
        const due = `the kill that was due ${sinceProven(first.at - witnessedAt)}`;
        return reason(
            "attack-not-held",
            `${due} could not be made for ${describeMilliseconds(forMs)}: ${quoted(problem)}`,
        );
    }

    /** The connections that the Job tries. */
    private working(): Working {
        const ports = this.endpoints.map((endpoint) => parseEndpoint(endpoint).port);
        return { ways: ["ingress"], ports, with: "witness" };
    }

    /** The target's pod that an endpoint belongs to. */
    private podAt(wanted: string): string | undefined {
        return this.args.targets.find((target) => endpointsOfTargets([target]).includes(wanted))?.pod;
    }

    private notEnforced({ open }: ConnectionReport): Inconclusive {
        const those = new Set(open);
        const found = this.endpoints.filter((endpoint) => those.has(endpoint)).join(", ") || "the target";
        const message = `the NetworkPolicy exists, but ${found} still accepted fresh connections`;
        return inconclusive("attack-not-proven", message);
    }
}
