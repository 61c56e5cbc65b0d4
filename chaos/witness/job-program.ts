/**
 * Runs in the pod of an experiment's deadline Job, while the attacks last:
 *
 * - Ends the attacks at the deadline, even if the machine that ran the update is gone. The deadline counts from the
 *   creation of the attacks' objects, so neither a restart nor a slow start of this pod moves it. Ends them at once
 *   when the namespace's lease is deleted, or names another run, and within seconds when a fault's proxy dies, its
 *   Service changes or a policy keeps callers from it; when somebody deletes an attack's object, or deletes or edits a
 *   policy of the run; or when they delete or change one that the run's own rest on. Without attacks, it restores what
 *   the run has changed; its deadline counts from the taking of the lease.
 * - Kills pods, or has programs stress containers, if an attack asks for that, and while the namespace's lease names
 *   this run. Watches whether containers run that an attack has stopped.
 * - Says on the targets by Events that they are attacked.
 * - Is the witness: an ordinary pod that tries to connect to the labeled pods. Its log, one `LogLine` per line, proves
 *   that the attacks work, or that they do not, and shows what becomes of established connections. It also accepts
 *   connections from the targets.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { settling } from "../values/async";
import { beginInJob } from "../kinds/attacks/job-parts";
import type { JobPart, Permission } from "../kinds/attacks/job-part";
import { witnessPorts } from "../kinds/attacks/attack-kind";
import { objectsAt, referenceAt, resources } from "../cluster/resources";
import { endAttacks } from "../ending/end";
import { jobPolicyName, ofRun } from "../ending/scope";
import { jobNameOf } from "../pods/job-name";
import { leasePreparationMs } from "../lease/lease-record";
import { whyJobPolicyUnfit, whyPoliciesUnfit } from "../policies/listed";
import { ageOf, endingApi, hasRights, log, noteOnOwnPod, objectApi, post, run } from "./api";
import { JobLog } from "./job-log";
import { lookAtLease, takenAt } from "./lease-look";
import type { DeadlineEnvironment, JobAttack, LeaseOfRun } from "./protocol";
import { SeenAttacks } from "./seen-attacks";
import { type AttackedPod, TargetEvents } from "./target-events";
import { acceptConnections, witness } from "./witnessing";

const {
    NAMESPACE,
    ATTACKS,
    CHANGED,
    BESIDES = "[]",
    DEADLINE_MS,
    POD_IPS = "",
    LEASE,
} = process.env as unknown as DeadlineEnvironment;
const attacks = JSON.parse(ATTACKS) as JobAttack[];
const deadlineMs = Number(DEADLINE_MS);
const lease = JSON.parse(LEASE) as LeaseOfRun;
const scope = {
    ...ofRun(
        { namespace: NAMESPACE, run: lease.run },
        attacks.map(({ path, label }) => ({ object: referenceAt(path), label })),
        (JSON.parse(CHANGED) as string[]).map(objectsAt),
        (JSON.parse(BESIDES) as string[]).map(referenceAt),
    ),
    // Last: this program has no rights any more. With it goes the policy that lets it through to the API server.
    rest: [{ resource: resources.roleBinding, name: jobNameOf(lease.run) }],
};
const seen = new SeenAttacks(lease.run, ageOf);
const maxShown = 5;
/** Between two looks whether the attacks must end, in milliseconds. */
const lookMs = 1_000;

/**
 * An update may create this Job and an attack's object a second time, such as one with --refresh in a new cluster, or
 * after the run. Then the lease is gone, another run's, or expired.
 */
async function permissionOf(attack: string): Promise<Permission> {
    if (!(await lasts(attack))) return "no-attack";
    const state = await lookAtLease(lease);
    if (state === "expired") return "lease-expired";
    // Once it is lost, this program ends the attacks.
    return state === "held" ? "granted" : "no-attack";
}

async function main(): Promise<void> {
    const begun = Date.now();
    // A pod may be deleted while it gives up its rights. Its replacement has none and must end, so that the Job
    // completes. At the beginning of a run, rights may come later than this program. Without an answer it stays: the
    // Job's success is final, and nothing else would end the attacks.
    setTimeout(() => setInterval(() => hasRights === false && process.exit(0), lookMs), leasePreparationMs);
    const jobLog = new JobLog((line) => process.stdout.write(line), begun);
    const ending = new AbortController();
    const listenPorts = attacks.flatMap(({ listenPort }) => listenPort ?? []);
    for (const port of new Set([...witnessPorts, ...listenPorts])) acceptConnections(port);
    const events = new TargetEvents({ namespace: NAMESPACE, run: lease.run, ending: ending.signal });
    const parts = attacks.map(({ kind, path, label, what, told }) =>
        beginInJob(kind, told, {
            namespace: NAMESPACE,
            run: lease.run,
            label,
            object: referenceAt(path),
            api: objectApi,
            post,
            exec: run,
            ending: ending.signal,
            permission: () => permissionOf(path),
            log,
            killed: ({ at, pod, uid }) => {
                jobLog.reported({ at, killed: { pod, uid, label } });
                void events.began([{ name: pod, uid, label }], { what, until: untilOf(path) });
            },
            refused: ({ at, ...refused }) => jobLog.reported({ at, refused: { label, ...refused } }),
            missed: ({ at, ...missed }) => jobLog.reported({ at, missed: { label, ...missed } }),
            used: ({ at, ...usage }) => jobLog.reported({ at, usage: { label, ...usage } }),
            noteOnOwnPod: (metadata) => noteOnOwnPod(NAMESPACE, metadata),
        }),
    );
    const found = (pods: readonly AttackedPod[]) => {
        for (const [index, { path, label, what }] of attacks.entries()) {
            const targets = pods.filter((pod) => pod.label === label);
            seen.learnFrom(targets, path);
            if (seen.beginningOf(path) === undefined || parts[index]?.saysWhoIsAttacked) continue;
            void events.began(targets, { what, until: untilOf(path) });
        }
    };
    const addresses = POD_IPS.split(",");
    const witnessed = { addresses, ending: ending.signal, parts, found };
    if (attacks.length > 0) void witness(NAMESPACE, attacks, lease, jobLog, witnessed);
    const over = await whyOver(begun, parts, ending.signal);
    ending.abort();
    while (!(await endAttacks(endingApi, scope, log).then(() => true, tellFailures))) await sleep(lookMs);
    const ended = { 0: "what was changed is restored", 1: "the attack is ended" }[attacks.length];
    log(`${over}: ${ended ?? "the attacks are ended"}`);
}

function tellFailures(error: unknown): void {
    const failures = (error instanceof AggregateError ? error.errors : [error]) as Error[];
    const more = failures.length > maxShown ? `; and ${failures.length - maxShown} more` : "";
    const shown = failures.slice(0, maxShown).map(({ message }) => message);
    log(`not everything is undone yet, which is tried again: ${shown.join("; ")}${more}`);
}

/** When an attack ends at the latest, as far as it was seen. */
const untilOf = (path: string) => (seen.beginningOf(path) ?? Date.now()) + deadlineMs;

/** Whether an attack has begun and its deadline has not passed. */
async function lasts(path: string): Promise<boolean> {
    const created = await seen.creationOf(path);
    return created !== undefined && Date.now() < created + deadlineMs;
}

type Look = () => Promise<string | undefined>;

/**
 * Waits until the attacks must end. No look waits for another, which may hang, except those that read all
 * NetworkPolicies: see `othersIn`.
 *
 * @returns why
 */
function whyOver(begun: number, parts: readonly JobPart[], ending: AbortSignal): Promise<string> {
    return new Promise((resolve) => {
        const look = async (how: Look) => {
            const reason = await how().catch(log);
            if (reason !== undefined) resolve(reason);
        };
        const again = async (act: () => unknown) => {
            for (; !ending.aborted; await sleep(lookMs)) await act();
        };
        // The lease also while an earlier look at it gets no answer: over another connection, one may.
        void again(() => void look(whyLost));
        const isAmongPolicies = scope.policies!.length > 0;
        const looks: Look[] = [
            () => whyTooLate(begun),
            () => whyJobPolicyUnfit(objectApi, NAMESPACE, jobPolicyName(lease.run), seen.met.ofJob),
            ...(isAmongPolicies ? [whyPoliciesUnfitNow] : []),
            ...parts.flatMap((part) => part.whyEndNow?.bind(part) ?? []),
        ];
        for (const how of looks) void again(() => look(how));
    });
}

async function whyLost(): Promise<string | undefined> {
    return (await lookAtLease(lease)) === "lost" ? "the lease is deleted, or names another run" : undefined;
}

/** Policies that are gone before an attack begins are made again: see `SeenAttacks.isAttacking`. */
const whyPoliciesUnfitNow = () =>
    whyPoliciesUnfit(objectApi, NAMESPACE, lease.run, seen.isAttacking ? seen.met.others : new Set());

async function whyTooLate(begun: number): Promise<string | undefined> {
    // Without attacks, the Job restores what was changed. An account that may change the lease must not put that off.
    const beginning =
        attacks.length > 0
            ? seen.firstOf(attacks.map(({ path }) => path))
            : takenAt(lease).then((at = begun) => Math.min(at, begun));
    // What the API server does not say is no answer, unless it never says it.
    const since = await beginning.catch((error: unknown) => log(error) ?? begun + leasePreparationMs);
    const deleted = seen.whyDeleted();
    if (deleted !== undefined) return deleted;
    // If no attack comes, the update that was to create it is gone, and the labels must be removed all the same. Not
    // at a short deadline: an attack that the update is about to create would have nothing to end it.
    const until = since === undefined ? begun + Math.max(deadlineMs, leasePreparationMs) : since + deadlineMs;
    return Date.now() >= until ? "the deadline has passed" : undefined;
}

// Not 0: a node that shuts down or is drained ends the pod before its work is done, and the Job must start another.
process.once("SIGTERM", () => process.exit(128 + 15));
process.once("SIGINT", () => process.exit(128 + 2));
// A Job that ends without having ended the attacks must start another pod.
settling(main).then(
    () => process.exit(0),
    (error: unknown) => {
        log(error);
        process.exit(1);
    },
);
