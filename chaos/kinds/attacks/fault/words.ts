/** What a fault does, in words. */
import { describeMilliseconds } from "../../../values/duration";
import { describeShare } from "../../../values/share";
import { describeMatch } from "./match";
import { type Abort, type ByteLimits, type Fault, grpcStatusOf, statusOf } from "./proxy/protocol";

/** Completes "hot-deals-1 is …". */
export function describeFault(fault: Fault): string {
    const { service, delayMs, abort } = fault;
    const limits = limitsOf(fault);
    const delayed = delayMs > 0 ? [`delayed by ${describeMilliseconds(delayMs)}`] : [];
    const aborted = abort === undefined ? [] : [describeAbort(abort)];
    const done = [...delayed, ...aborted, ...(limits ? [limits] : [])];
    if (done.length === 0) return `reached by way of a proxy through Service ${service}`;
    return `${done.join(" and ")}${requestsOf(fault, "the ")} through Service ${service}${whenOf(fault)}`;
}

function describeAbort(abort: Abort): string {
    const status = describeStatus(abort);
    if (status === undefined) return { reset: "reset", hang: "left without answer" }[abort as "reset" | "hang"];
    const headers = typeof abort === "object" && "headers" in abort ? Object.entries(abort.headers ?? {}) : [];
    const values = headers.map(([name, value]) => `${name}: ${value}`).join(" and ");
    return `aborted with ${status}${values && ` and ${values}`}`;
}

/** Such as `status 503`, or `gRPC status UNAVAILABLE`. Undefined if an abort answers nothing. */
export function describeStatus(abort: Abort | undefined): string | undefined {
    const [status, grpc] = [statusOf(abort), grpcStatusOf(abort)];
    return grpc ? `gRPC status ${grpc.name}` : status === undefined ? undefined : `status ${status}`;
}

/** The same in a word or two, for programs that show it on a target. */
export function effectOf(fault: Fault): string {
    const { delayMs, abort } = fault;
    const which = `${requestsOf(fault, "")}${whenOf(fault)}`;
    const delay = describeMilliseconds(delayMs);
    const limits = limitsOf(fault);
    if (limits) return `${[...(delayMs > 0 ? [`slow by ${delay}`] : []), limits].join(" and ")}${which}`;
    if (abort === undefined) return `slow by ${delay}${which}`;
    const how = { reset: "failing with reset connections", hang: "failing without an answer" };
    const status = describeStatus(abort);
    const failing = status === undefined ? how[abort as keyof typeof how] : `failing with ${status}`;
    return `${failing}${delayMs > 0 ? ` after ${delay}` : ""}${which}`;
}

export const bytes = (count: number) => `${count} ${count === 1 ? "byte" : "bytes"}`;

/** Such as `slowed to 1000 bytes/s and cut after 5000 bytes`. Undefined if a fault leaves the bytes alone. */
function limitsOf({ bytesPerSecond, cutAfter, stream }: ByteLimits): string | undefined {
    const limits = [
        ...(bytesPerSecond === undefined ? [] : [`slowed to ${bytes(bytesPerSecond)}/s`]),
        ...(cutAfter === undefined ? [] : [`cut after ${bytes(cutAfter)}`]),
    ];
    if (limits.length === 0) return undefined;
    return `${limits.join(" and ")}${stream === "upstream" ? " of what is sent to it" : ""}`;
}

/**
 * Such as ` in 30% of the requests to /api/*`, or ` in the first 3 requests of each client`; empty for all of them.
 *
 * @param the "the ", where an article is needed
 */
function requestsOf(fault: Fault, the: "the " | ""): string {
    const { match } = fault;
    const some = shareOf(fault, the);
    const which = match ? [describeMatch(match)] : [];
    if (some === undefined && which.length === 0) return "";
    return ` in ${[some ?? `${the}requests`, ...which, ...clientsOf(fault)].join(" ")}`;
}

const whenOf = ({ pulse }: Fault) => (pulse ? `, ${describePulse(pulse)}` : "");

export const firstOf = (first: number) => (first === 1 ? "first request" : `first ${first} requests`);

function shareOf({ percentage, first, every }: Fault, the: "the " | ""): string | undefined {
    if (first !== undefined) return `the ${firstOf(first)}`;
    if (every !== undefined) return `1 of every ${every} requests`;
    return percentage < 100 ? `${describeShare(percentage / 100)} of ${the}requests` : undefined;
}

const clientsOf = ({ per }: Fault) => (per === "client" ? ["of each client"] : []);

export const describePulse = ({ onMs, offMs }: NonNullable<Fault["pulse"]>): string =>
    `for ${describeMilliseconds(onMs)} of every ${describeMilliseconds(onMs + offMs)}`;
