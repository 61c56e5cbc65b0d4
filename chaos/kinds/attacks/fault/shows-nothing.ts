/** What the counts of a proxy say of its fault: whether it has shown, and whether all of it has. */
import { reason, type Reason } from "../../../values/reasons";
import { describeShare } from "../../../values/share";
import type { Counts } from "../counted";
import { describeMatch } from "./match";
import { type Fault, grpcStatusOf, limits } from "./proxy/protocol";
import { bytes, describePulse, firstOf } from "./words";

type Told = Omit<Fault, "delayMs">;

/** Why a fault that was in effect shows nothing, or not all of what it is. Undefined if it does. */
export function whyShowsNothing(fault: Told, counted: Counts | undefined): Reason | undefined {
    const { service } = fault;
    if (counted === undefined) {
        const message = `the counts of the proxy of Service ${service} could not be read from its log`;
        return reason("fault-uncounted", message);
    }
    const { requests, unfaultable, refused = 0 } = counted;
    if (refused > 0) {
        const closed = refused === 1 ? "1 connection" : `${refused} connections`;
        return reason(
            "proxy-failed",
            `the proxy of Service ${service} closed ${closed} in the window: more than ${limits.connections} were ` +
                `open, or more than ${limits.heldBytes >> 20} MiB waited to be passed on`,
        );
    }
    if (unfaultable > 0) return reason("fault-not-http", `${unfaultable} of ${requests} ${whyUnfaultable(fault)}`);
    const unshown = requests === 0 ? undefined : whyIncomplete(fault, counted);
    if (unshown !== undefined) return reason("fault-incomplete", unshown);
    const nobody = whyHitNobody(fault, counted);
    return nobody === undefined ? undefined : reason("fault-hit-nobody", nobody);
}

function whyUnfaultable({ service, abort, match }: Told): string {
    const through = `through Service ${service}`;
    if (grpcStatusOf(abort))
        return (
            `requests ${through} were not gRPC in clear text, and no status of gRPC could answer them; use a status ` +
            'of HTTP, or abort "reset" or "hang"'
        );
    const instead = match
        ? "their requests could not be matched; leave out `match`"
        : 'no status could answer them; use abort "reset" or "hang"';
    return `connections ${through} were not HTTP in clear text, and ${instead}`;
}

/** What a fault says of itself and did not come about, in words. */
function whyIncomplete(fault: Told, counts: Counts): string | undefined {
    const { service, first, per, bytesPerSecond, cutAfter, pulse } = fault;
    const { requests, faulted, throttled = 0, cut = 0, paused = 0, clients = 0 } = counts;
    const through = `through Service ${service}`;
    const ofAll = `of ${requests} requests ${through}`;
    if (bytesPerSecond !== undefined && throttled === 0)
        return `0 ${ofAll} were slowed by ${bytes(bytesPerSecond)}/s in the window${fewer(bytesPerSecond, "/s")}`;
    if (cutAfter !== undefined && cut === 0)
        return `0 ${ofAll} were cut after ${bytes(cutAfter)} in the window${fewer(cutAfter)}`;
    if (first !== undefined && per === "client" && clients === 0)
        return `no client had its ${firstOf(first)} ${through} hit in the window, and ${faulted} ${ofAll} were`;
    if (first !== undefined && per === undefined && faulted < first)
        return `${faulted} of the ${firstOf(first)} ${through} were hit in the window, which had ${requests}`;
    if (pulse && paused === 0)
        return (
            `0 ${ofAll}${meantBy(fault)} came while the pulse was off, which was on ${describePulse(pulse)}; ` +
            "use a longer window"
        );
    return undefined;
}

const fewer = (least: number, unit = "") => (least > (unit ? 1 : 0) ? `; use fewer bytes${unit}` : "");

/** Why a fault has hit no request that matters, in words. */
function whyHitNobody(fault: Told, counts: Counts): string | undefined {
    const { service, match } = fault;
    const { requests, faulted, unmatched = 0, ofChecks = 0, ofChecksFaulted } = counts;
    const through = `through Service ${service}`;
    if (requests === 0 && unmatched > 0)
        return `0 of ${unmatched} requests that reached the targets ${through} were requests ${describeMatch(match!)}`;
    if (requests === 0) return `0 new requests reached the targets ${through} in the window`;
    const at = howOften(fault);
    if (faulted === 0) return `0 of ${requests} requests ${through} were hit${at} in the window; use a longer window`;
    if (ofChecks === 0 || ofChecksFaulted! > 0) return undefined;
    return (
        `0 of ${ofChecks} requests that the checks caused ${through} were hit${at} in the window, and ${faulted} of ` +
        `${requests} of all callers; ${instead(fault)}`
    );
}

/** Which requests a pulse would have hit, had it been on. Empty for all. */
const meantBy = ({ percentage, every }: Told): string => {
    if (every !== undefined) return ` that were to be hit, 1 of every ${every},`;
    return percentage < 100 ? ` that were to be hit, ${describeShare(percentage / 100)},` : "";
};

function howOften({ percentage, first, every, pulse }: Told): string {
    if (first !== undefined) return `, only the first ${first},`;
    const often = every === undefined ? ` at ${describeShare(percentage / 100)}` : `, 1 of every ${every},`;
    return pulse ? `${often} ${describePulse(pulse)}` : often;
}

const instead = ({ first }: Told): string =>
    first === undefined
        ? "use a longer window, a higher percentage or a larger radius"
        : "use a match that only requests of the checks have";
