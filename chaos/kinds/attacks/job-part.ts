import type { ApiResponse } from "../../cluster/verbs";
import type { ObjectApi, ObjectReference } from "../../cluster/resources";

/** What the deadline Job does for an attack, besides ending it and connecting to its targets. */
export interface JobPart {
    /** Set if it reports each pod when it attacks it: a pod with the label is not attacked yet. */
    readonly saysWhoIsAttacked?: true;
    /** What the last look has found: names that its reports have as `open` or `closed`. @default nothing */
    readonly last?: { open: readonly string[]; closed: readonly string[] };
    /** Why the attacks must end now. Undefined while they may last. @throws Error if the API server does not say */
    whyEndNow?(): Promise<string | undefined>;
}

/**
 * Whether an attack may act: it has begun and is not over, and the namespace's lease names the run. `lease-expired` if
 * only the lease does not allow it any more.
 */
export type Permission = "granted" | "no-attack" | "lease-expired";

/**
 * Begins what the Job does for an attack, when the Job starts: usually before the attack.
 *
 * @typeParam T what `forJob` of the kind has told it
 */
export type BeginInJob<T> = (told: T, context: JobContext) => JobPart;

export interface JobContext {
    namespace: string;
    /** Name of the run. */
    run: string;
    /** Value of the label on the targets. */
    label: string;
    /** The object that is the attack. */
    object: ObjectReference;
    api: ObjectApi;
    /** Set when the attacks end. */
    ending: AbortSignal;
    permission: () => Promise<Permission>;
    /** Writes a line for a person. */
    log: (message: unknown) => undefined;
    /** Sends a POST to a path. Returns the API server's answer, also an error. */
    post: (path: string, body: object) => Promise<ApiResponse>;
    /** Reports that a pod was deleted. */
    killed: (pod: { at: number; pod: string; uid: string }) => void;
    /** Reports that the eviction of a pod was refused. */
    refused: (eviction: { at: number; pod: string; uid: string; problem: string }) => void;
    /** Reports that a kill was due at a moment, and could not be made for a time since. */
    missed: (kill: { at: number; forMs: number; problem: string }) => void;
    /** Notes something on the Job's pod, for others to read. */
    noteOnOwnPod: (metadata: { labels: Record<string, string>; annotations: Record<string, string> }) => Promise<void>;
}
