import { apiServer, type ConnectionReport, type KeptState, maxKept, silentAfterMs } from "../witness/protocol";
import { parseEndpoint } from "../values/endpoint";
import { beginsAtPeers, beginsAtTargets, type Proof } from "../kinds/attacks/attack-kind";
import { reason as reasonOf, type Reason } from "../values/reasons";
import { remedy, type Written } from "../values/texts";
import { hasAll } from "./reports";

/** What became of the connections that the witness had to an attack's targets before it. */
export interface Established {
    /** Which connections these were: into the targets, or out of them. Absent if the attack denies none. */
    direction?: "inward" | "outward";
    /** `cut` if all are shown to be cut, `survived` if one is shown to have survived. */
    became: "cut" | "survived" | "unknown";
    /**
     * Milliseconds after fresh connections failed, exact to about a second: until the last was cut, or until the last
     * of the survivors was closed by its target. Absent if one survived to the end.
     */
    afterMs?: number;
    /** Why that is unknown, as a part of a sentence. */
    reason?: string;
}

/** What is known of established connections if the attack denies none of those that the witness has. */
export function notLookedAt(proof: Proof): Established {
    if (proof.stopped)
        return { became: "unknown", reason: "nobody looks at the connections of containers that are stopped" };
    if (proof.lookup || !(beginsAtTargets(proof) || beginsAtPeers(proof)))
        return { became: "unknown", reason: "the attack denies no connections from the witness" };
    const reason = "nobody looks at connections that the application had open before the attack; they may have gone on";
    return { direction: beginsAtTargets(proof) ? "outward" : "inward", became: "unknown", reason };
}

type Outcome = Omit<Established, "direction">;

const resetByNetworkMs = 5_000;

const unknown = (reason: string): Outcome => ({ became: "unknown", reason });
const windowEnded = unknown("the run ended before it showed; let the window last 10 s or more");

/**
 * What became of established connections into an attack's targets, by the witness's reports while the attack held.
 *
 * @param attacked the attacked endpoints of all targets
 * @param witnessedAt since when fresh connections fail, by the witness's clock
 */
export function becameOf(
    all: readonly ConnectionReport[],
    attacked: readonly string[],
    witnessedAt: number,
): Established {
    const reports = whileCut(all, attacked, witnessedAt);
    const names = [...new Set(reports.map(({ kept = {} }) => kept))].flatMap((kept) => Object.keys(kept));
    if (names.length === 0)
        return { direction: "inward", ...unknown("the system of the witness's pod does not show its connections") };
    const hosts = new Set(attacked.map((endpoint) => parseEndpoint(endpoint).host));
    const kept = byHost(names, hosts);
    const expected = Math.min(hosts.size, maxKept);
    if (kept.length < expected) {
        const seen = `${kept.length} of ${expected} addresses of the targets`;
        const reason = `the witness could keep connections to only ${seen}`;
        return { direction: "inward", ...unknown(reason) };
    }
    return { direction: "inward", ...together(kept.map((those) => becameOfOne(reports, those, witnessedAt))) };
}

/** The connections to each host. They may go to any attacked port of the pod: the witness does not know containers. */
function byHost(names: readonly string[], hosts: ReadonlySet<string>): string[][] {
    const kept = new Map<string, Set<string>>();
    for (const name of names) {
        const host = name === apiServer ? "" : parseEndpoint(name).host;
        if (hosts.has(host)) kept.set(host, (kept.get(host) ?? new Set()).add(name));
    }
    return [...kept.values()].map((those) => [...those]);
}

function together(outcomes: readonly Outcome[]): Outcome {
    const survivors = outcomes.filter(({ became }) => became === "survived");
    const doubtful = outcomes.find(({ became }) => became === "unknown");
    if (survivors.length === 0 && doubtful) return doubtful;
    const decisive = survivors.length > 0 ? survivors : outcomes;
    const { became } = decisive[0]!;
    if (decisive.some(({ afterMs }) => afterMs === undefined)) return { became };
    return { became, afterMs: Math.max(...decisive.map(({ afterMs }) => afterMs!)) };
}

/** The reports up to the first after the attack was seen in which a target can be reached or has lost its label. */
function whileCut(all: readonly ConnectionReport[], endpoints: readonly string[], from: number): ConnectionReport[] {
    const areAllIn = hasAll(endpoints);
    const end = all.findIndex(({ at, closed }) => at >= from && !areAllIn(closed));
    return all.slice(0, end === -1 ? undefined : end);
}

const stateIn = ({ kept }: ConnectionReport, names: readonly string[]): KeptState | undefined =>
    names.map((name) => kept?.[name]).find((state) => state !== undefined);

/** What became of the connection to one target. */
function becameOfOne(reports: readonly ConnectionReport[], names: readonly string[], witnessedAt: number): Outcome {
    const last = reports.at(-1)!;
    const seen = reports.map((report) => ({ at: report.at, state: stateIn(report, names) }));
    if (!seen.some(({ at, state }) => at <= witnessedAt && state === "answering"))
        return unknown("the targets kept no connection open before the attack");
    const lastState = seen.at(-1)!.state;
    if (lastState === undefined) return unknown("the witness was restarted, and lost its connections with that");
    // A packet has come since this long before the report.
    if (lastState === "answering") return last.at - silentAfterMs > witnessedAt ? { became: "survived" } : windowEnded;

    const since = seen[seen.findLastIndex(({ state }) => state === "answering") + 1]!;
    if (lastState === "ended") {
        const { at } = seen.find((one) => one.at >= since.at && one.state === "ended")!;
        // The packet with which the target closed it came through: the attack had left the connection alone.
        if (at - witnessedAt > silentAfterMs) return { became: "survived", afterMs: at - witnessedAt };
        return unknown("the targets closed the connections when the attack began");
    }
    // A network that resets does so with the next probe, within seconds. Later, the target may have done it.
    if (since.state === "lost" && since.at - witnessedAt > resetByNetworkMs)
        return unknown("the connections were reset during the attack, by the network or by the targets");
    const cutAt = since.state === "silent" ? since.at - silentAfterMs : since.at;
    return whyOwnLoss(reports, cutAt, since.at) ?? { became: "cut", afterMs: Math.max(0, cutAt - witnessedAt) };
}

/** Why a connection that was lost may have been the witness's own loss. Undefined if that to the API server lived. */
function whyOwnLoss(reports: readonly ConnectionReport[], cutAt: number, seenAt: number): Outcome | undefined {
    const settledAt = seenAt + silentAfterMs;
    const about = reports.filter(({ at }) => at >= cutAt - silentAfterMs && at <= settledAt);
    const states = about.map(({ kept }) => kept?.[apiServer]);
    if (states.some((state) => state === "lost" || state === "silent"))
        return unknown("the witness lost its connection to the API server at the same time");
    const after = reports.filter(({ at }) => at >= settledAt);
    if (after.length === 0) return windowEnded;
    // The first of them says that packets came since the loss was seen.
    if (states.includes("answering") && after.some(({ kept }) => kept?.[apiServer] === "answering")) return undefined;
    return unknown("the witness had no connection to the API server, which the others could be compared with");
}

/** For people: `cut after 3 s`, `survived`, `survived until closed after 62 s`, `unknown`. */
export function describeEstablished({ became, afterMs }: Established): string {
    if (afterMs === undefined) return became;
    const seconds = `after ${Math.round(afterMs / 1_000)} s`;
    return became === "survived" ? `survived until closed ${seconds}` : `${became} ${seconds}`;
}

/** Why an attack that wants established connections cut gives no verdict. Undefined if they were cut. */
export function whyEstablishedNotCut({ became, reason }: Established, written: Written = {}): Reason | undefined {
    if (became === "cut") return undefined;
    const wanted = "the experiment wants them cut (established: cut)";
    const allow = `accept any outcome: ${remedy(written, "established", "any")}`;
    const them = "established connections into the targets";
    if (became === "unknown")
        return reasonOf(
            "established-unknown",
            `it is unknown whether ${them} were cut, and ${wanted}: ${reason}; or ${allow}`,
        );
    return reasonOf(
        "established-not-cut",
        `${them} survived the attack, and ${wanted}; use a kill attack, or ${allow}`,
    );
}
