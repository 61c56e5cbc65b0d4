import { kubectlFor } from "../../values/kubectl";
import { type Cluster, statusOf } from "../../cluster/client";
import { quote } from "shlex";
import { parseJson } from "../../values/json";
import { quoted } from "../../values/quoted";
import type { Answer } from "./answer";
import { afterRunning, stalledBetween, watchStalls } from "./stalls";

/** The beginnings of the API server's own answers that are not Status objects: it is too busy, stops, or has failed. */
const ownTexts = [
    "Too many requests, please try again later.\n",
    "The apiserver is shutting down",
    'Internal Server Error: "/api/',
    "This request caused apiserver to panic",
];
/**
 * What the API server's proxy has found out about the Service. Without an agent (konnectivity) it could not even try.
 */
const ofService = /^(?:no endpoints available for service|error trying to reach service: (?!.*No agent available))/;

/**
 * What the API server said instead of the Service that its proxy was asked for, such as that it rejects the request.
 * Undefined if the Service answered, or if the proxy found that it cannot be reached.
 */
export function proxyRefusal(body: string): string | undefined {
    if (ownTexts.some((text) => body.startsWith(text))) return body.trim();
    const { kind, apiVersion, message = "" } = parsed(body);
    // An application may answer in this form, too, with a message of any length.
    return kind === "Status" && apiVersion === "v1" && !ofService.test(message) ? message.slice(0, 500) : undefined;
}

/** What the API server's proxy says of a Service without pods that could answer, with the next step. */
export function lackOfEndpoints(body: string, path: string, cluster: Cluster): string | undefined {
    const { kind, message = "" } = parsed(body);
    if (kind !== "Status" || !message.startsWith(noEndpoints)) return undefined;
    // The name is taken from the path: the message may be an application's.
    const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/services\/(?:https?:)?([^/:]+)/.exec(path) ?? [];
    const service = quote(name ?? "NAME");
    const kubectl = `${kubectlFor(cluster, namespace)} get`;
    return (
        `${quoted(message)}: none of its pods is ready, or its selector matches none; compare ` +
        `\`${kubectl} service ${service} --output wide\` with \`${kubectl} pods --show-labels\``
    );
}

const noEndpoints = "no endpoints available for service";

/**
 * Whether the proxy knows no pod that it may ask. It reads the Endpoints object of a Service, which a controller makes
 * only by a selector, and passes nothing on to addresses there that are not said to be pods (`targetRef`). Without that
 * object it says that there are no endpoints of this name, or (Kubernetes 1.34) no Service, though there is one.
 */
export function knowsNoPod(body: string): boolean {
    const { kind, message = "" } = parsed(body);
    return (
        kind === "Status" &&
        (message.startsWith(noEndpoints) || /^(?:endpoints|services) "[^"]*" not found$/.test(message))
    );
}

const parsed = (body: string) => (parseJson(body) ?? {}) as { kind?: string; apiVersion?: string; message?: string };

/** Says that nothing is known about the application, because the API server did not answer meanwhile. */
export const spoiledBySilence = ({ stalledMs: _, ...answer }: Answer): Answer => ({
    ...answer,
    problem: `${answer.problem}, while the API server did not answer other requests either`,
    unseen: true,
});

/** The longest time that the API server may take to answer, in milliseconds. It depends on the checks' time limits. */
const answerMs = { least: 50, most: 500 };

/** If nothing is answered for so long, in milliseconds, this machine's network has stalled, or the API server. */
const silentMs = 750;

/** After a longer stall of this process, in milliseconds, an answer is late also if it was there before. */
const mostStallMs = 5_000;

/** For how much of a time this process ran, in milliseconds. */
const ranBetween = (from: number, to: number) => to - from - stalledBetween(from, to).delayMs;

/**
 * Asks the API server repeatedly while checks ask over the network. A request that failed while the API server did not
 * answer says nothing about the application: it was sent through the API server, or over the same network.
 */
export class ApiServerPulse {
    private readonly beats: { at: number; answered: Promise<boolean> }[] = [];
    private readonly answeredAt: number[] = [];
    private readonly answerMs: number;
    private readonly timer: NodeJS.Timeout;
    private readonly unwatch = watchStalls();

    /**
     * @param ask reads the Service that is asked through the API server, if one is: that needs what the proxy needs,
     *     which is the same credentials, the same share of requests, and the API server's store
     * @param shortestMs the shortest time limit of a request through the proxy: no gap as long may go unnoticed
     */
    constructor(
        private readonly ask: () => Promise<unknown>,
        shortestMs = Infinity,
    ) {
        this.answerMs = Math.max(answerMs.least, Math.min(answerMs.most, shortestMs / 2));
        this.beat();
        this.timer = setInterval(() => this.beat(), this.answerMs / 2);
    }

    stop(): void {
        clearInterval(this.timer);
        this.unwatch();
    }

    /** Whether the API server has answered in time ever since a moment, in milliseconds of `performance.now()`. */
    async answeredSince(moment: number): Promise<boolean> {
        // What was asked shortly before may have had no answer at the moment itself.
        const since = this.beats.filter(({ at }) => at >= moment - this.answerMs);
        const answered = await Promise.all(since.map((beat) => beat.answered));
        return answered.length > 0 && answered.every((one) => one);
    }

    /**
     * Whether the API server gave no answer at all, not even a refusal, for at least half the time since a moment. Then
     * a stall of this machine's network may be why something had no answer, or a late one. False if none ever came.
     * The time in which this process did not run is left out.
     * @param moment in milliseconds of `performance.now()`
     */
    wasSilentSince(moment: number): boolean {
        const before = this.answeredAt.findLastIndex((at) => at <= moment);
        const moments = [...this.answeredAt.slice(Math.max(0, before)), performance.now()];
        const leastMs = Math.max(silentMs, ranBetween(moment, performance.now()) / 2);
        return moments.slice(1).some((at, index) => ranBetween(moments[index]!, at) >= leastMs);
    }

    private beat(): void {
        const at = performance.now();
        const inTime = () => {
            this.answeredAt.push(performance.now());
            return ranBetween(at, performance.now()) <= this.answerMs;
        };
        const asked = this.ask().then(inTime, (error: unknown) => {
            const status = statusOf(error);
            const isInTime = status !== undefined && inTime();
            // The API server has answered, too, if the Service is gone.
            return status === 404 && isInTime;
        });
        const tooLate = new Promise<boolean>((resolve) =>
            afterRunning(this.answerMs, mostStallMs, () => resolve(false)),
        );
        this.beats.push({ at, answered: Promise.race([asked, tooLate]) });
    }
}
