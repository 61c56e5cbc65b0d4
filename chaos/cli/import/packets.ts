/** What is done to the packets of pods, and the faults that come nearest. */
import { formatDuration } from "../../values/duration";
import { type Fields, unlikeAny } from "./fields";
import type { Additions, Draft } from "./imported";

/** @param key of the delay */
export function faultOfDelay(fields: Fields, key: string, delayMs: number | undefined, { service }: Additions): Draft {
    if (delayMs === 0) fields.refuse("is less than 1ms, so no request would be held", key);
    noteFault(
        fields,
        key,
        service,
        "delays",
        "requests",
        "is of each packet that the pods send there, so opening a connection takes it, too, and so do calls of " +
            "these pods to others; here each request (HTTP in clear text), else each new connection, through " +
            `Service ${service} is held once`,
    );
    return { kind: "fault", service, delay: formatDuration(delayMs ?? 0) };
}

/** As tc reads a rate, in bits or bytes per second: https://man7.org/linux/man-pages/man8/tc.8.html#PARAMETERS */
const rate = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(bit|bps)$/i;

/** @param key of the rate */
export function faultOfRate(fields: Fields, key: string, { service }: Additions): Draft {
    const text = fields.text(key);
    const [, number, prefix = "", unit] = rate.exec(text ?? "") ?? [];
    const bits = unit?.toLowerCase() === "bit" ? 8 : 1;
    const bytesPerSecond = Math.floor((Number(number) * 1_000 ** " kmgt".indexOf(prefix.toLowerCase() || " ")) / bits);
    if (!fields.has(key)) fields.refuse("is missing", key);
    else if (text !== undefined && !(bytesPerSecond >= 1))
        fields.refuse("is not a rate such as 1mbps, which is bytes per second, or 8mbit", key);
    else
        noteFault(
            fields,
            key,
            service,
            "limits",
            "answers",
            "is of all together that the pods send there, also to others; here each answer (HTTP in clear text), " +
                `else all that a pod sends on a connection, through Service ${service} has this rate by itself`,
        );
    return { kind: "fault", service, bytesPerSecond: bytesPerSecond >= 1 ? bytesPerSecond : undefined };
}

export const losesSome = unlikeAny(
    "loses some of the packets, which TCP sends again: connections get slow, and few fail",
    "a fault with a delay and a percentage of requests",
).reason;

/** Says how the fault of a Service differs from what it comes nearest to, or that it needs one. */
function noteFault(
    fields: Fields,
    key: string,
    service: string | undefined,
    does: string,
    what: string,
    difference: string,
): void {
    const needsOne =
        `${does} packets. With --service NAME, the Service through which these pods are called, it becomes a fault, ` +
        `which ${does} ${what}`;
    if (service === undefined) fields.refuse(needsOne, key);
    else fields.note(difference, key);
}
