import { describe, expect, it } from "vitest";
import type { Proof, ProvenBlock, Reported } from "../../../../chaos/kinds/attacks/attack-kind";
import type { ConnectionReport } from "../../../../chaos/witness/protocol";
import * as judge from "../../../../chaos/proof/judge";
import { byWitness, type Tried, type TrialWithin, triedWithin } from "../../../../chaos/proof/trials";
import type { Reason } from "../../../../chaos/values/reasons";
import type { Target } from "../../../../chaos/targets/containers";

const pod = (name: string, addresses: string[], ...ports: number[]): Target => ({
    namespace: "demo",
    pod: name,
    uid: name,
    container: "c",
    containerId: name,
    address: addresses[0]!,
    addresses,
    ports,
});
const [web, second, withBoth] = [
    pod("web", ["10.0.0.1"], 8080),
    pod("web-2", ["10.0.0.7"], 80, 81),
    pod("web", ["10.0.0.1", "fd00::1"], 8080),
];
const [a, a6, b, b2] = ["10.0.0.1:8080", "[fd00::1]:8080", "10.0.0.7:80", "10.0.0.7:81"];
const host = { host: "api.example.com", port: 443 };
const resolved = { ...host, addresses: ["203.0.113.7", "203.0.113.8"] };

const of = (proof: Proof, chosen: Partial<Tried["chosen"]> = {}): Tried => ({
    proof,
    chosen: { targets: [web], ...chosen },
});
const reporting = (some: Partial<Reported>): Tried => ({
    ...of({}),
    reported: { hit: [], spared: [], passed: [], ...some },
});
const betweenPeers = (peers: Proof["peers"], targets = [web]) =>
    of({ peers }, { targets, peers: [pod("db", ["10.0.0.2", "fd00::2"], 5432)] });
const toHost = (...blocks: ProvenBlock[]) => of({ addresses: { hosts: [host], blocks } }, { hosts: [resolved] });

const inward = of({ inward: {} });
const ofFamilies = of({ inward: {} }, { targets: [withBoth] });
const leftOut = of({ inward: {} }, { targets: [withBoth], leftOut: [`to ${a6}`] });
const outward = of({ outward: { port: 8080 } });
const lookup = of({ lookup: { name: "x" } });
const toPeers = betweenPeers({ ways: ["egress"] });
const [probe, passed] = ["web through s:80", "web through s:80, with a request without x-session"];
const fault = reporting({ hit: [probe] });
const matching = reporting({ hit: [probe], passed: [passed] });

/** What the witness finds, second after second, of each name: open (o), closed (c), or not tried (-). */
function reports(seen: Record<string, string>, everyMs = 1_000): ConnectionReport[] {
    const those = (index: number, state: string) =>
        Object.entries(seen).flatMap(([id, all]) => (all[index] === state ? id : []));
    const moments = [...Object.values(seen)[0]!].map((_, index) => index);
    return moments.map((index) => ({ at: index * everyMs, open: those(index, "o"), closed: those(index, "c") }));
}

/** What is found from within if connections to these addresses work, and lookups of these names; or from one pod. */
function look(trials: readonly TrialWithin[], works: readonly string[], more: Partial<judge.Look> = {}): judge.Look {
    const isOpen = ({ from, question }: TrialWithin) => {
        if ("resolve" in question) return false;
        const to = "connect" in question ? question.connect.host : question.lookup;
        return works.includes(to) || works.includes(`${from.pod} ${to}`);
    };
    const [open, closed] = [true, false].map((is) => trials.flatMap((one) => (isOpen(one) === is ? one.id : [])));
    return { at: 0, tookMs: 0, open: open!, closed: closed!, ...more };
}
const [at4, at6] = ["10.0.0.99", "fd00::99"];
const tableOf = (tried: Tried, addresses = [at4]) => triedWithin(tried, tried.proof.outward ? addresses : []);

type Found = Reason | { leftOut: string[] } | { at: number } | undefined;
const said = (found: Found): string => {
    if (found === undefined) return "";
    if ("code" in found) return `${found.code}: ${found.message}`;
    return "at" in found ? `since ${found.at / 1_000} s` : `left out: ${found.leftOut.join(", ")}`;
};

describe("before the attack", () => {
    it.each<[string, Tried, Record<string, string>, string]>([
        ["each target must answer", inward, { [a]: "o" }, "left out: "],
        [
            "at one port at least",
            of({ inward: {} }, { targets: [web, second] }),
            { [a]: "o", [b]: "c", [b2]: "c" },
            `baseline-failed: nothing answered at ${b}, ${b2} of web-2 before the attack`,
        ],
        ["or in one family", ofFamilies, { [a]: "o", [a6]: "c" }, `left out: to ${a6}`],
        [
            "but none of a port that is left alone",
            of({ stillWorks: { inward: { except: [] } } }),
            { [a]: "c" },
            "left out: ",
        ],
    ])("%s", (_, tried, seen, outcome) =>
        expect(said(judge.leftOutBefore(byWitness(tried), reports(seen)[0]!))).toBe(outcome),
    );

    const failed = (what: string, of = "web") => `baseline-failed: ${what} did not work before the attack (${of})`;
    const unanswered = (at: string) => `baseline-failed: nothing answered web at ${at} before the attack`;
    const [ways, cidr] = [["ingress", "egress"] as const, "203.0.113.0/24"];
    it.each<[string, Tried, string[], string]>([
        ["each target must reach the witness", outward, [at4], "left out: "],
        ["which is named if it does not", outward, [], failed("a fresh connection out of the targets")],
        [
            "which one does, and another does not",
            of(outward.proof, { targets: [web, second] }),
            [`web ${at4}`],
            failed("a fresh connection out of the targets", "web-2"),
        ],
        ["unless it has no tool", of(outward.proof, { withoutTool: ["web"] }), [], "left out: "],
        ["each must look up a name", of(lookup.proof, { targets: [web] }), ["x"], "left out: "],
        [
            "which is named, too",
            of(lookup.proof, { targets: [web, second] }),
            [],
            failed("a DNS lookup in the targets"),
        ],
        ["peers must be reached", toPeers, [], failed("a fresh connection between the targets and their peers")],
        [
            "in one family",
            betweenPeers({ ways }, [withBoth]),
            ["fd00::1", "fd00::2"],
            "left out: from db/c to 10.0.0.1 at port 8080, from web/c to 10.0.0.2 at port 5432",
        ],
        [
            "at a port that is known",
            betweenPeers({ ways, ports: [81] }),
            [],
            "no-port: neither the targets nor their peers have a known TCP port that the attack blocks",
        ],
        [
            "a host must be reached at one of its addresses",
            toHost({ cidr }),
            ["203.0.113.8"],
            "left out: from web/c to api.example.com (203.0.113.7) at port 443",
        ],
        [
            "by each target",
            of({ addresses: { hosts: [host], blocks: [] } }, { targets: [second, web], hosts: [resolved] }),
            ["web-2 203.0.113.8"],
            unanswered("api.example.com (203.0.113.7, 203.0.113.8), port 443,"),
        ],
        [
            "which are named if none answers",
            toHost({ cidr }),
            [],
            unanswered("api.example.com (203.0.113.7, 203.0.113.8), port 443,"),
        ],
        [
            "and something in each block",
            toHost({ cidr: "203.0.113.0/29" }),
            ["203.0.113.8"],
            unanswered("203.0.113.0/29"),
        ],
        [
            "at each port that is denied there",
            toHost({ cidr, port: 443 }, { cidr, port: 80 }),
            resolved.addresses,
            unanswered("203.0.113.0/24 at port 80"),
        ],
    ])("from within, %s", (_, tried, works, outcome) => {
        const { trials, needs } = tableOf(tried);
        expect(said(judge.leftOutBefore({ trials, needs }, look(trials, works)))).toBe(outcome);
    });

    it("from within, one family of the witness is enough", () => {
        const table = tableOf(outward, [at4, at6]);
        expect(said(judge.leftOutBefore(table, look(table.trials, [at4])))).toBe(
            "left out: from web/c to another pod over IPv6 at port 8080",
        );
    });
});

const affected = (what: string) => `positive-control-failed: the attack also affects what it should not: ${what}`;

describe("the attack has begun for the witness", () => {
    const stillOpen = (at: string) =>
        `attack-not-proven: the NetworkPolicy exists, but ${at} still accepted fresh connections`;
    const nothingTried = "attack-not-proven: nothing is tried that would show the attack";
    it.each<[string, Tried, Record<string, string>, string]>([
        ["when all is closed that was open", ofFamilies, { [a]: "oocc", [a6]: "oooc" }, "since 3 s"],
        ["not while one is open", ofFamilies, { [a]: "ooc", [a6]: "ooo" }, stillOpen(a6)],
        ["not while it is not tried", inward, { [a]: "o-" }, stillOpen("the target")],
        ["not if it was never open", inward, { [a]: "cc" }, said(judge.noReport)],
        ["also if some was left out", leftOut, { [a]: "oc", [a6]: "cc" }, "since 1 s"],
        ["at once if nothing into the targets is denied", lookup, { [a]: "oo" }, "since 1 s"],
        ["at once if the targets must be gone", of({ deleted: true }), { [a]: "oo" }, "since 1 s"],
        ["never if nothing else shows it either", of({}), { [a]: "oc" }, nothingTried],
        ["never by what it leaves alone", of({ stillWorks: { inward: { except: [] } } }), { [a]: "oo" }, nothingTried],
        ["when probes show a fault", fault, { [probe]: "oc" }, "since 1 s"],
        ["not while one does not", fault, { [probe]: "oo" }, `attack-not-proven: probes were not affected: ${probe}`],
        [
            "which an attack says in its own words",
            reporting({ hit: [probe], missing: "was below what the attack asks for" }),
            { [probe]: "oo" },
            `attack-not-proven: ${probe} was below what the attack asks for`,
        ],
        [
            "not if none reached a target",
            reporting({}),
            { [probe]: "oc" },
            "attack-not-proven: no probe reached a target before the attack",
        ],
        ["when other requests pass, too", matching, { [probe]: "oc", [passed]: "oo" }, "since 1 s"],
        [
            "not while these are not answered",
            matching,
            { [probe]: "oc", [passed]: "o-" },
            "attack-not-proven: not every probe was answered that the attack must leave alone",
        ],
        ["not if these are hit", matching, { [probe]: "oc", [passed]: "oc" }, affected(passed)],
        ["not without a report", inward, { [a]: "" }, said(judge.noReport)],
        ["not without one of what it does not try either", lookup, { [a]: "" }, said(judge.noReport)],
    ])("%s", (_, tried, seen, outcome) => expect(said(judge.cutSince(byWitness(tried), reports(seen)))).toBe(outcome));
});

describe("what only the Job sees is told at the end", () => {
    const load = reporting({ hit: [probe], missing: "was below what the attack asks for" });
    it.each<[string, Record<string, string>, boolean]>([
        ["by a report that has it", { [a]: "ooo", [probe]: "ccc" }, true],
        ["also if it is not as it must be", { [a]: "ooo", [probe]: "cco" }, true],
        ["not by an earlier one", { [a]: "oo", [probe]: "cc" }, false],
        ["not by one of another pod of the Job, which does not have it yet", { [a]: "ooo", [probe]: "cc-" }, false],
        ["not without a report", { [a]: "", [probe]: "" }, false],
    ])("%s", (_, seen, isTold) => expect(judge.isTold(byWitness(load), reports(seen), 1_500)).toBe(isTold));
});

describe("the attack holds for the witness", () => {
    const notHeld = (what: string) => `attack-not-held: ${what}`;
    const reopened = (at: string) => notHeld(`the target web became reachable again during the run, at ${at}`);
    const unlabeled = notHeld(`the target web, at ${a}, lost its label during the run`);
    const onPort = of({ inward: { ports: [8080] } }, { targets: [pod("web", ["10.0.0.1"], 8080, 9090)] });
    const silent = (ms: string) =>
        `witness-silent: the Job that watches the targets reported nothing for ${ms} of the run`;
    it.each<[string, Tried, Record<string, string>, string]>([
        ["if the target is always closed", inward, { [a]: "cccc" }, ""],
        ["not if it was open once", inward, { [a]: "cocc" }, reopened(a)],
        ["in both families", ofFamilies, { [a]: "ccc", [a6]: "coc" }, reopened(a6)],
        ["also in one that was left out", leftOut, { [a]: "ccc", [a6]: "coc" }, reopened(a6)],
        ["also if something is open that it leaves alone", onPort, { [a]: "ccc", "10.0.0.1:9090": "ooo" }, ""],
        ["not if the target had no label for a time", inward, { [a]: "c-cc" }, unlabeled],
        ["not if it has none at the end", inward, { [a]: "ccc-" }, unlabeled],
        ["also if nothing into it is denied", lookup, { [a]: "oo-" }, unlabeled],
        ["if it was deleted, with its label", of({ deleted: true }), { [a]: "c--" }, ""],
        [
            "not if a probe was answered",
            fault,
            { [a]: "ooo", [probe]: "coc" },
            notHeld(`${probe} was not affected at a moment of the run`),
        ],
        [
            "which an attack says in its own words",
            reporting({ hit: [probe], missing: "was below what the attack asks for" }),
            { [probe]: "cco" },
            notHeld(`${probe} was below what the attack asks for at a moment of the run`),
        ],
        [
            "not if a pod was out of reach for long",
            fault,
            { [a]: "oooooooo", [probe]: "c------c" },
            notHeld(`${probe} could not be reached at a moment of the run`),
        ],
        ["if that was short", fault, { [a]: "oooooo", [probe]: "c----c" }, ""],
    ])("%s", (_, tried, seen, outcome) =>
        expect(said(judge.whyNotCut(byWitness(tried), reports(seen), 0, 8_000))).toBe(outcome),
    );

    it.each<[string, string, number, string, boolean?]>([
        ["if it is silent for 10 s at most", "ccc", 30_000, ""],
        ["not if it is silent for longer: that may show later", "ccc", 31_000, silent("11 s"), true],
        ["not if it was silent before, for good", "c-c", 20_000, silent("20 s"), false],
    ])("%s", (_, seen, endsAt, outcome, mayPass) => {
        const all = reports({ [a]: seen }, 10_000).filter(({ closed }) => closed.length > 0);
        const why = judge.whyNotCut(byWitness(inward), all, 0, endsAt);
        expect([said(why), why?.mayPass]).toEqual([outcome, mayPass]);
    });
});

describe("from within, what must fail and works is named:", () => {
    const families = [at4, at6];
    it.each<[string, Tried, string[], string]>([
        ["out of a target", outward, [at4], "a fresh connection from web/c to another pod over IPv4 at port 8080"],
        ["in one family", outward, [at6], "a fresh connection from web/c to another pod over IPv6 at port 8080"],
        ["a lookup", lookup, ["x"], "a DNS lookup in the targets"],
        ["to peers", toPeers, ["10.0.0.2"], "a fresh connection between the targets and their peers"],
        [
            "to a host",
            toHost(),
            ["203.0.113.8"],
            "a fresh connection from web/c to api.example.com (203.0.113.8) at port 443",
        ],
    ])("%s", (_, tried, works, what) => {
        const table = tableOf(tried, families);
        const [found, nothing] = [look(table.trials, works), look(table.trials, [])];
        const meanwhile = (one: judge.Look) => said(judge.whyWorkedMeanwhile(table, one, 0, () => "then"));
        const message = `the NetworkPolicy exists, but ${what} still works`;
        expect(said(judge.whyWorking(table, found, "attack-not-proven"))).toBe(`attack-not-proven: ${message}`);
        expect([nothing, found].map(meanwhile)).toEqual(["", `attack-not-held: ${message}, then`]);
        expect(judge.whyWorking(table, nothing, "attack-not-proven")).toBeUndefined();
    });

    it("another address of a host's name", () => {
        const table = tableOf(toHost());
        const moved = { id: table.trials.at(-1)!.id, to: ["203.0.113.9"] };
        expect(said(judge.whyWorking(table, look(table.trials, [], { moved }), "attack-not-held", ", now"))).toBe(
            "peers-changed: api.example.com is 203.0.113.9 in web, which it was not before the attack " +
                "(203.0.113.7, 203.0.113.8), now",
        );
    });

    const [table, problem, untried] = [
        tableOf(lookup),
        "busy",
        "probe-failed: a DNS lookup in the targets could not be tried",
    ];
    it("not if something could not be tried: that is the reason", () => {
        expect(said(judge.whyWorking(table, look(table.trials, ["x"], { problem }), "attack-not-held"))).toBe(
            `${untried}: busy`,
        );
    });

    it.each<[string, [at: number, problem?: string, took?: number][], string]>([
        ["which does not matter in the window if it is short", [[4], [8, problem], [9, problem], [12]], ""],
        ["and does if it is not", [[4], [8, problem], [14.1, problem]], `${untried} for 10.1 s, from 4 s: busy`],
        ["also if an answer comes then", [[4], [14.5]], `${untried} for 10.5 s, from 4 s: no answer came`],
        ["also if it took that long to fail", [[4], [8, problem, 7]], `${untried} for 11 s, from 4 s: busy`],
    ])("%s", (_, looks, outcome) => {
        const log = looks.map(([at, why, took = 0]) =>
            look(table.trials, [], { at: at * 1_000, tookMs: took * 1_000, problem: why }),
        );
        const seenBefore = (index: number) => log.slice(0, index).findLast((one) => one.problem === undefined)?.at ?? 0;
        const judged = log.map((one, index) =>
            said(judge.whyWorkedMeanwhile(table, one, seenBefore(index), (at) => `${at / 1_000} s`)),
        );
        expect(judged.find((reason) => reason !== "") ?? "").toBe(outcome);
    });
});

const overreach = (what: string) =>
    "positive-control-failed: the attack blocks more than it should: " +
    `a fresh connection ${what} worked before it, and fails under it`;

describe("from within, what must go on working and does not is named:", () => {
    const still = (some: Proof["stillWorks"]): Proof => ({ ...lookup.proof, stillWorks: some });
    const control = { host: "kubernetes.default.svc", port: 443, addresses: ["10.96.0.1"] };
    const { chosen } = toPeers;
    const judged = (tried: Tried, works: string[], more?: Partial<judge.Look>) => {
        const trials = triedWithin(tried, [at4]).trials.filter(({ during }) => during === "works");
        return said(judge.whyOverreaching(trials, look(trials, works, more)));
    };
    it.each<[string, Tried, string[], string]>([
        ["the witness", of(still({ outward: { port: 8080 } })), [at4], "from web/c to another pod at port 8080"],
        [
            "other ports of peers",
            of(still({ peers: { ways: ["egress"], except: [80] } }), chosen),
            ["10.0.0.2", "fd00::2"],
            "from web/c to 10.0.0.2 at port 5432",
        ],
        [
            "a host",
            of(still({}), { control }),
            ["10.96.0.1"],
            "from web/c to kubernetes.default.svc (10.96.0.1) at port 443",
        ],
    ])("%s", (_, tried, works, name) => {
        expect([judged(tried, works), judged(tried, [])]).toEqual(["", overreach(name)]);
        expect(judged(tried, [], { problem: "no shell." })).toBe(
            "probe-failed: what must still work under the attack could not be tried: no shell",
        );
        const all = triedWithin(tried, [at4]).trials.flatMap((one) => one.name ?? []);
        expect(judged({ ...tried, chosen: { ...tried.chosen, leftOut: all } }, [])).toBe("");
    });

    it("not peers that another attack cuts off, or ports that this one blocks", () => {
        const others = of(still({ peers: { ways: ["ingress", "egress"], except: [5432] } }), chosen);
        expect(judged({ ...others, spared: [] }, [])).toBe("");
        expect(judged(others, ["10.0.0.1"])).toBe("");
    });
});

describe("for the witness, what must go on working and does not is named:", () => {
    const port = of({ stillWorks: { inward: { except: [] } } });
    const blocked = of({ inward: { ports: [8080] }, stillWorks: { inward: { except: [8080] } } });
    const untouched = of({ stillWorks: { untouched: true } });
    const other = "db through s:80";
    const cut = overreach(`from another pod to ${a}`);
    it.each<[string, Tried, Record<string, string>, string]>([
        ["not a port that is open all the time", port, { [a]: "oooooo" }, ""],
        ["one that is closed from the attack on", port, { [a]: "oocccc" }, cut],
        ["one that is closed later", port, { [a]: "ooooocccc" }, cut],
        ["not one that was closed for a time", port, { [a]: "oocccco" }, ""],
        ["not one that is slow at times", port, { [a]: "oocccoocc" }, ""],
        ["not one that was closed only before the attack", port, { [a]: "occooo" }, ""],
        ["not one that was not tried meanwhile", port, { [a]: "oocc-ccc" }, ""],
        ["not one that was never open", port, { [a]: "cccccc" }, ""],
        ["not one that is denied", blocked, { [a]: "oocccc" }, ""],
        ["pods that are no targets", untouched, { reference: "oocccc" }, overreach("between pods that are no targets")],
        ["not these if none is ready any more", untouched, { reference: "oo----" }, ""],
        [
            "a probe of another pod",
            reporting({ spared: [other] }),
            { [other]: "oocccco" },
            `${affected(other)}, which is no target`,
        ],
        ["a request that does not match", matching, { [passed]: "oocccco" }, affected(passed)],
        ["one that was answered before these reports", matching, { [passed]: "cccccc" }, affected(passed)],
        ["not one that was slow once", matching, { [passed]: "ooccooo" }, ""],
    ])("%s", (_, tried, seen, outcome) => {
        const lost = judge.lostByWitness(byWitness(tried), reports(seen), 2_000);
        expect(said(judge.whyOverreachingByWitness(byWitness(tried), lost, [a]))).toBe(outcome);
    });

    it("not a port that its own container does not reach either: the application is blocked, or has crashed", () => {
        const lost = judge.lostByWitness(byWitness(port), reports({ [a]: "oocccc" }), 2_000);
        expect(judge.whyOverreachingByWitness(byWitness(port), lost, [])).toBeUndefined();
    });
});

it("a kill that was due after the attack was seen to work, and could not be made, is the reason", () => {
    const missed = [1_000, 20_000].map((at) => ({ at, missed: { label: "l", forMs: 5_100, problem: "403" } }));
    expect(said(judge.whyMissed(missed, 8_000))).toBe(
        "attack-not-held: the kill that was due 12 s after the attack was proven could not be made for 5.1 s: “403”",
    );
    expect(judge.whyMissed(missed, 30_000)).toBeUndefined();
    const load = missed.map(({ at, missed: one }) => ({ at, missed: { ...one, what: "the load in web-1/web" } }));
    expect(said(judge.whyMissed(load, 8_000))).toMatch(/: the load in web-1\/web that was due 12 s after/);
});
