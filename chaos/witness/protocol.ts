import type { UsageReport } from "../kinds/attacks/stress/usage";

export const deadlineContainer = "deadline";

/** What the step `steady-state` finds that the Job is made from. */
export interface JobBasis {
    /** See `runNameOf`. */
    runName: string;
    /** See `labels.pass`. */
    pass: string;
    /** Whether the account may make Events on targets: then the Job may, too. @default false */
    mayMakeEvents?: boolean;
    /** Whether the cluster replaces the pod of such a Job at once, however often. @default false */
    replacesAtOnce?: boolean;
}

/** What the Job found when it tried to connect to every TCP port of every labeled pod. Its log has only changes. */
export interface ConnectionReport {
    /** When it began to try, in milliseconds since the epoch. */
    at: number;
    /** Endpoints that accepted a fresh connection, and `reference`. */
    open: string[];
    /** Endpoints that did not, and `reference`. */
    closed: string[];
    /**
     * How long before this report was written the last of its tries began, in milliseconds. Absent if no endpoint was
     * newly closed, if the Job had stalled meanwhile, and in logs of version 0.6.0.
     */
    triedMs?: number;
    /**
     * What the connections that the Job keeps open showed when it began to try, each by its endpoint, and `apiServer`.
     * Those of which nothing is known are left out. @default none
     */
    kept?: Readonly<Record<string, KeptState>>;
}

/**
 * What reports call some pods that no attack touches, as if they were one. It is open if one of them accepts a fresh
 * connection, and closed if none does any more that is still ready: then it is not the targets alone that are cut off.
 * Absent if no such pod was ever reached, or no attack cuts its targets off entirely.
 */
export const reference = "reference";

/**
 * What reports call the connection to the API server that is kept open, to compare with. If it is lost or silent, it is
 * not the targets' connections alone.
 */
export const apiServer = "API server";

/**
 * What a connection that stays open shows: `answering`, a packet has come within the last 2 s; `silent`, none has for
 * `silentAfterMs`; `lost`, it was reset, or nothing came for 11 s; `ended`, the other end has closed it.
 */
export type KeptState = "answering" | "silent" | "lost" | "ended";

/** No packet has come for this long, in milliseconds, when a connection is first seen silent. */
export const silentAfterMs = 2_000;
/** For each attack, connections are kept to at most this many addresses of its targets. */
export const maxKept = 100;

/**
 * What the Job's pod says about itself in its annotation `chaos-experiments/witness`, as JSON. Its log says more, but
 * the kubelet serves no log until it has noticed that the container runs, up to a second later.
 */
export interface Presence {
    /** Where it accepts connections from the targets: the first of its pod's addresses. */
    address: string;
    /** All of them, of each family one. @default `address` alone: version 0.5.0 did not note the others */
    addresses?: string[];
    /**
     * The endpoints of all labeled pods at the last look that it announced. Before the attacks, that is the first at
     * which each has accepted a connection or has had its short tries; see `EarlyConnections`.
     */
    watched: string[];
    /** Those of them that accepted no connection at that look. @default version 0.6.0 did not note them */
    closed?: string[];
    /** When the process began, in milliseconds since the epoch. @default version 0.5.0 did not note it */
    begun?: number;
}

export interface DeadlineEnvironment {
    NAMESPACE: string;
    /** `JobAttack[]` as JSON. */
    ATTACKS: string;
    /** API paths of what the run changes besides NetworkPolicies, and must be restored, as JSON. */
    CHANGED: string;
    /** Those of the pods that actions have beside the run, as JSON. @default none */
    BESIDES?: string;
    DEADLINE_MS: string;
    /** The addresses of the Job's pod, as the kubelet gives them: the cluster's first family first, comma-separated. */
    POD_IPS: string;
    /** Name of the Job's pod. */
    POD_NAME: string;
    /** `LeaseOfRun` as JSON. */
    LEASE: string;
}

/** The lease that the run holds: the run is over when it is deleted or names another. */
export interface LeaseOfRun {
    /** API path. */
    path: string;
    /** What its annotation `chaos-experiments/run` says. */
    run: string;
}

export interface JobAttack {
    kind: string;
    /** API path of the object that is the attack. */
    path: string;
    /** Value of the label on the targets' pods. */
    label: string;
    /** What is done to them, for people: see `describe` of its kind. */
    what: string;
    /** Port to accept connections from the targets on, besides `witnessPorts`. @default none */
    listenPort?: number;
    /** What its kind's part in the Job is told. @default nothing */
    told?: object;
}

export interface KillReport {
    /** In milliseconds since the epoch. */
    at: number;
    killed: { pod: string; uid: string; label: string };
}

/** The first eviction of a pod that the API server refused. */
export interface RefusedEviction {
    /** In milliseconds since the epoch. */
    at: number;
    /** `problem` is what the API server said. */
    refused: { pod: string; uid: string; label: string; problem: string };
}

/** What was due, and could not be made for some seconds: a kill that the radius allowed, or the load in a container. */
export interface Missed {
    /** Since when it was due, in milliseconds since the epoch. */
    at: number;
    /** `what` was due. @default a kill: the Jobs of 0.6.0 know only these */
    missed: { label: string; what?: string; forMs: number; problem: string };
}

/** What a container has used until now: see `usageSchema`. */
export interface UsageLine {
    /** In milliseconds since the epoch. */
    at: number;
    usage: { label: string } & UsageReport;
}

/** A line of the Job's log, as JSON. */
export interface LogLine {
    /** When the process began, in milliseconds since the epoch: tells the processes of a restarted container apart. */
    begun: number;
    /** Lines of a process are numbered from 0: none may be missing, since they say only what changed. */
    line: number;
    /**
     * In milliseconds since the epoch: when the look began, a pod was deleted or not evicted, something was due, or a
     * container's usage was read.
     */
    at: number;
    /**
     * The endpoints that are not as in the look before: empty if all are. `gone` are those of pods without a label.
     * The connections that are kept open and are not as before have their states' names; of those that are `unkept`
     * nothing is known any more. With `more`, the next line has further endpoints of the same look.
     */
    changed?: Partial<Record<Change, string[]>> & { more?: boolean };
    /** See `ConnectionReport`. */
    triedMs?: number;
    killed?: KillReport["killed"];
    refused?: RefusedEviction["refused"];
    missed?: Missed["missed"];
    usage?: UsageLine["usage"];
}

export type Change = "open" | "closed" | "gone" | KeptState | "unkept";
