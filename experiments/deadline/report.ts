/** One line of the deadline Job's log: what it found when it tried to connect to every port of every target. */
export interface ConnectionReport {
    /** Milliseconds since the epoch, when the attempts began. */
    at: number;
    /** Ports that took a fresh connection. */
    open: string[];
    /** Ports that did not. */
    closed: string[];
}

/** The environment that the Job's program is given. */
export interface DeadlineEnvironment {
    NAMESPACE: string;
    /** Name of the attack's NetworkPolicy. */
    POLICY: string;
    /** Names the marked pods, as `key=value`. */
    TARGET_SELECTOR: string;
    /** `address:port`, comma-separated. */
    ENDPOINTS: string;
    DEADLINE_MS: string;
}

/** Made once the first report is written; the Job's pod is ready from then on. */
export const readyFile = "/tmp/ready";
