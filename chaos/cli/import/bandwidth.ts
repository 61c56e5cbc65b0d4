import type { Fields } from "./fields";
import { type Additions, type Draft, noteFault } from "./imported";

/** As tc reads a rate, in bits or bytes per second: https://man7.org/linux/man-pages/man8/tc.8.html#PARAMETERS */
const rate = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(bit|bps)$/i;

/** The fault that comes nearest to a limit of the bandwidth of pods. @param key of the rate */
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
