import type { Container } from "../../cluster/exec";
import type { ApiResponse } from "../../cluster/verbs";
import type { ObjectApi, ObjectReference } from "../../cluster/resources";
import type { V1Status } from "../../values/kubernetes-types";
import type { UsageReport } from "./stress/usage";

/** What the deadline Job does for an attack, besides ending it and connecting to its targets. */
export interface JobPart {
    /** Set if it reports each pod when it attacks it: a pod with the label is not attacked yet. */
    readonly saysWhoIsAttacked?: true;
    /**
     * What was seen last, by the names that the Job's reports use: `closed` is what the attack hits, such as a
     * container that does not run, `open` what it does not. @default nothing
     */
    readonly last?: { open: readonly string[]; closed: readonly string[] };
    /** Why the attacks must end now. Undefined while they may last. @throws Error if the API server does not say */
    whyEndNow?(): Promise<string | undefined>;
}

/**
 * Whether an attack may act: it has begun and is not over, and the namespace's lease names the run. `lease-expired`:
 * only the expiry of the lease forbids it.
 */
export type Permission = "granted" | "no-attack" | "lease-expired";

/**
 * Begins what the Job does for an attack, when the Job starts: usually before the attack. @typeParam T what `forJob` of
 * the kind has given the Job
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
    log: (message: unknown) => undefined;
    post: (path: string, body: object) => Promise<ApiResponse>;
    /** Runs a command, as `exec` of `cluster/exec.ts`. */
    exec: (
        container: Container,
        command: readonly string[],
        onOutput: (printed: Buffer, isError: boolean) => void,
        signal: AbortSignal,
        onOpen: (send: (text: string) => void) => void,
    ) => Promise<V1Status>;
    killed: (pod: { at: number; pod: string; uid: string }) => void;
    refused: (eviction: { at: number; pod: string; uid: string; problem: string }) => void;
    /** Reports that something was due at a moment, and could not be done for a time since then. */
    missed: (due: { at: number; what: string; forMs: number; problem: string }) => void;
    /** Reports what a container has used. */
    used: (usage: { at: number } & UsageReport) => void;
    noteOnOwnPod: (metadata: { labels: Record<string, string>; annotations: Record<string, string> }) => Promise<void>;
}
