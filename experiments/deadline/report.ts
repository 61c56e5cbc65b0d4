import type { Radius } from "../../shared/radius";

/** The container of the deadline Job's pod. */
export const watcher = "deadline";

/** One line of the deadline Job's log: what it found when it tried to connect to every TCP port of every marked pod. */
export interface ConnectionReport {
    /** Milliseconds since the epoch, when the attempts began. */
    at: number;
    /** Ports that took a fresh connection. */
    open: string[];
    /** Ports that did not. */
    closed: string[];
}

/**
 * What the Job's pod says of itself in its annotation `chaos-shop/witness`, as JSON. Its log says more, but the kubelet
 * hands out no log before it has noticed that the container runs, up to a second later.
 */
export interface Presence {
    /** Where it takes connections from the targets, if anywhere. */
    address: string;
    /** The ports that it looks at, as reports name them; those of all marked pods that it has found so far. */
    watched: string[];
}

/** The environment that the Job's program is given. */
export interface DeadlineEnvironment {
    NAMESPACE: string;
    /** `JobAttack[]` as JSON. */
    ATTACKS: string;
    /** Names of Deployments that the experiment may have scaled, comma-separated; empty for none. */
    SCALED: string;
    DEADLINE_MS: string;
}

/** What the Job knows of one attack. */
export interface JobAttack {
    /** Where the API server has the object that is the attack: a NetworkPolicy, or the order to kill. */
    path: string;
    /** What its targets' pods are marked with. */
    mark: string;
    /** Where connections from the targets are taken. @default nowhere */
    listenPort?: number;
    /** @default nobody is killed */
    killing?: Killing;
}

/** Whom the Job kills, and how often. */
export interface Killing {
    intervalMs: number;
    /** What its first victims are marked with; pods with another mark are another attack's. */
    mark: string;
    /** Attributes of the containers, their namespace among them. */
    target: string;
    radius: Radius;
    clusterName: string;
}

/** Another kind of line in the Job's log: a pod that it deleted. `at` is in milliseconds since the epoch. */
export interface KillReport {
    at: number;
    killed: { pod: string; uid: string; mark: string };
}

/** A port of a pod as reports name it: `10.244.0.7:8080`, `[fd00::7]:8080`. */
export function endpoint(address: string, port: number): string {
    return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}
