import { type Cluster, statusOf } from "../cluster/client";
import { parseJson } from "./values";
import type { ServiceReference } from "./service";

/** How the API server's own answers begin that are not Status objects: it has too much to do, stops, or has failed. */
const ownTexts = [
    "Too many requests, please try again later.\n",
    "The apiserver is shutting down",
    'Internal Server Error: "/api/',
    "This request caused apiserver to panic",
];
/** What its proxy found out about the Service. Without an agent (konnectivity) it could not even try. */
const ofService = /^(?:no endpoints available for service|error trying to reach service: (?!.*No agent available))/;

/**
 * What the API server said instead of the Service that its proxy was asked for, as when it rejects the request.
 * Undefined if the Service answered, or if the proxy found that it cannot be reached.
 */
export function refusalIn(body: string): string | undefined {
    if (ownTexts.some((text) => body.startsWith(text))) return body.trim();
    const { kind, apiVersion, message = "" } = parsed(body);
    // The message of an application that answers in this form may be of any length.
    return kind === "Status" && apiVersion === "v1" && !ofService.test(message) ? message.slice(0, 500) : undefined;
}

/** That a Service has no pods to answer, as the proxy found out, with the next step. Undefined if that is not so. */
export function lackOfEndpoints(body: string, path: string): string | undefined {
    const { kind, message = "" } = parsed(body);
    if (kind !== "Status" || !message.startsWith("no endpoints available for service")) return undefined;
    const namespace = /^\/api\/v1\/namespaces\/([^/]+)\//.exec(path)?.[1];
    const service = /"([^"]+)"/.exec(message)?.[1];
    const kubectl = `kubectl --namespace ${namespace} get`;
    return (
        `${message}: none of its pods is ready, or its selector matches none; compare ` +
        `\`${kubectl} service ${service} --output wide\` with \`${kubectl} pods --show-labels\``
    );
}

const parsed = (body: string) => (parseJson(body) ?? {}) as { kind?: string; apiVersion?: string; message?: string };

/** The longest time that the API server may take to answer, in milliseconds: depends on the checks' time limits. */
const answerMs = { least: 50, most: 500 };

/**
 * Asks the API server for the Service again and again, while checks ask the Service through it. A request that failed
 * while the API server did not answer says nothing about the application. Reading the Service takes what the proxy
 * takes: the same credentials, the same share of requests, the API server's store.
 */
export class ApiServerPulse {
    private readonly beats: { at: number; answered: Promise<boolean> }[] = [];
    private readonly answerMs: number;
    private readonly timer: NodeJS.Timeout;

    /** @param shortestMs the shortest time limit of a request: a gap as long as that must not go unnoticed */
    constructor(
        private readonly cluster: Cluster,
        private readonly service: Pick<ServiceReference, "namespace" | "name">,
        shortestMs: number,
    ) {
        this.answerMs = Math.max(answerMs.least, Math.min(answerMs.most, shortestMs / 2));
        this.beat();
        this.timer = setInterval(() => this.beat(), this.answerMs / 2);
    }

    stop(): void {
        clearInterval(this.timer);
    }

    /** Whether the API server has answered in time ever since a moment, in milliseconds of `performance.now()`. */
    async answeredSince(moment: number): Promise<boolean> {
        // Those asked shortly before may have had no answer at the moment itself.
        const since = this.beats.filter(({ at }) => at >= moment - this.answerMs);
        const answered = await Promise.all(since.map((beat) => beat.answered));
        return answered.length > 0 && answered.every((one) => one);
    }

    private beat(): void {
        const { namespace, name } = this.service;
        const at = performance.now();
        const inTime = () => performance.now() - at <= this.answerMs;
        const asked = this.cluster.core.readNamespacedService({ namespace, name }).then(
            inTime,
            // It has answered, too, if the Service is gone.
            (error: unknown) => statusOf(error) === 404 && inTime(),
        );
        const tooLate = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), this.answerMs));
        this.beats.push({ at, answered: Promise.race([asked, tooLate]) });
    }
}
