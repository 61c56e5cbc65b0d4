import { describe, expect, it } from "vitest";
import type { Proof } from "../../../../chaos/kinds/attacks/attack-kind";
import type { ConnectionReport, KeptState } from "../../../../chaos/witness/protocol";
import {
    becameOf,
    describeEstablished,
    type Established,
    notLookedAt,
    whyEstablishedNotCut,
} from "../../../../chaos/proof/established";

type State = KeptState | "none";

const [a, b] = ["10.0.0.1:80", "10.0.0.2:80"];
/** When fresh connections fail. There is a report each second, from two before on. */
const witnessedAt = 1_000_000;

/** Reports of these states, one each second: of the targets' connections, and of that to the API server. */
function reports(targets: Record<string, State[]>, apiServer: State[] = []): ConnectionReport[] {
    const length = Math.max(...Object.values(targets).map((states) => states.length));
    return Array.from({ length }, (_, index) => {
        const at = witnessedAt + (index - 2) * 1_000;
        const states = Object.entries({ ...targets, "API server": apiServer }).map(([name, all]) => {
            const otherwise = name === "API server" && apiServer.length === 0 ? "answering" : "none";
            return [name, all[index] ?? all.at(-1) ?? otherwise] as const;
        });
        const kept = Object.fromEntries(states.filter(([, state]) => state !== "none")) as Record<string, KeptState>;
        const endpoints = Object.keys(targets);
        return at < witnessedAt ? { at, open: endpoints, closed: [], kept } : { at, open: [], closed: endpoints, kept };
    });
}
const times = (number: number, state: State) => Array.from({ length: number }, () => state);
const before = times(3, "answering");

function told(all: ConnectionReport[], targets = [a]): string {
    return describeEstablished(becameOf(all, targets, witnessedAt));
}

describe("a connection that was established before the attack", () => {
    it.each<[string, State[]]>([
        ["survived", [...before, ...times(8, "answering")]],
        ["survived", [...before, ...times(3, "silent"), ...times(5, "answering")]],
        ["survived until closed after 5 s", [...before, ...times(4, "answering"), ...times(3, "ended")]],
        ["cut after 0 s", [...times(2, "answering"), ...times(6, "lost")]],
        ["cut after 0 s", [...before, "answering", ...times(6, "silent")]],
        ["cut after 3 s", [...before, ...times(4, "answering"), ...times(6, "silent")]],
        ["cut after 3 s", [...before, ...times(4, "answering"), ...times(3, "silent"), ...times(3, "lost")]],
        ["cut after 5 s", [...before, ...times(4, "answering"), ...times(6, "lost")]],
    ])("is said to have %s after %s", (became, states) => expect(told(reports({ [a]: states }))).toBe(became));

    it.each<[string, ConnectionReport[], RegExp]>([
        ["it was not open then", reports({ [a]: ["ended", "ended", ...times(8, "lost")] }), /kept no connection open/],
        ["its target closed it then", reports({ [a]: [...before, ...times(8, "ended")] }), /closed the connections/],
        ["the window ends before a probe", reports({ [a]: [...before, "answering"] }), /let the window last/],
        ["the window ends soon after", reports({ [a]: [...before, "answering", "silent"] }), /let the window last/],
        [
            "it was reset long after, maybe by its target",
            reports({ [a]: [...before, ...times(6, "answering"), ...times(6, "lost")] }),
            /by the network or by the targets/,
        ],
        ["nothing was seen of it", reports({ [a]: times(8, "none") }), /only 0 of 1 addresses of the targets/],
        ["the witness lost it", reports({ [a]: [...before, ...times(8, "none")] }), /the witness was restarted/],
        ["the system shows none", reports({ [a]: times(8, "none") }, times(8, "none")), /does not show its connec/],
        [
            "the API server's was lost, too",
            reports({ [a]: [...before, ...times(8, "lost")] }, [...before, ...times(8, "lost")]),
            /lost its connection to the API server/,
        ],
        [
            "the API server's was silent, too, a moment later",
            reports({ [a]: [...before, ...times(8, "silent")] }, [...before, "answering", ...times(8, "silent")]),
            /lost its connection to the API server/,
        ],
        [
            "there is none to the API server",
            reports({ [a]: [...before, ...times(8, "lost")] }, times(8, "none")),
            /had no connection to the API server/,
        ],
    ])("is unknown if %s", (_, all, reason) => {
        const became = becameOf(all, [a], witnessedAt);
        expect(became).toEqual({ direction: "inward", became: "unknown", reason: expect.stringMatching(reason) });
    });

    it("is looked at in each family that the target was attacked in", () => {
        const [ipv6, cut] = ["[fd00::1]:80", [...before, ...times(8, "lost")] as State[]];
        const survives = reports({ [a]: cut, [ipv6]: [...before, ...times(8, "answering")] });
        expect(told(survives, [a, ipv6])).toBe("survived");
        const unseen = reports({ [a]: cut, [ipv6]: times(11, "none") });
        expect(becameOf(unseen, [a, ipv6], witnessedAt).reason).toMatch(/only 1 of 2 addresses of the targets/);
    });

    it("is cut although the API server closed the witness's, and it was opened again", () => {
        const apiServer: State[] = [...before, "ended", ...times(8, "answering")];
        expect(told(reports({ [a]: [...before, ...times(8, "lost")] }, apiServer))).toBe("cut after 1 s");
    });

    it("may be one to another container of the same pod, which the attack does not describe", () => {
        const all = reports({ [a]: times(9, "none"), "10.0.0.1:15090": [...before, ...times(6, "lost")] });
        expect(told(all)).toBe("cut after 1 s");
    });

    it("is not judged by what it showed when the attack was over", () => {
        const all = reports({ [a]: [...before, ...times(8, "silent"), ...times(3, "answering")] });
        for (const report of all.slice(-3)) Object.assign(report, { open: [a], closed: [] });
        expect(told(all)).toMatch(/^cut/);
    });
});

describe("of several targets", () => {
    const cut = [...before, ...times(8, "lost")];
    const survived = [...before, ...times(8, "answering")];

    it.each<[string, State[], State[]]>([
        ["cut after 4 s", cut, [...before, ...times(3, "answering"), ...times(5, "lost")]],
        ["survived", cut, survived],
        ["unknown", cut, [...before, ...times(8, "none")]],
        ["unknown", cut, times(8, "none")],
    ])("it is %s if one is cut and the other shows %s", (became, one, other) =>
        expect(told(reports({ [a]: one, [b]: other }), [a, b])).toBe(became),
    );

    it("only 100 need a connection", () => {
        const targets = Array.from({ length: 150 }, (_, index) => `10.1.0.${index}:80`);
        const kept = Object.fromEntries(targets.map((name, index) => [name, index < 100 ? cut : times(11, "none")]));
        expect(told(reports(kept), targets)).toBe("cut after 1 s");
    });
});

it.each<[string, Proof, string | undefined, RegExp]>([
    ["denies no connections", { lookup: { name: "x" } }, undefined, /denies no connections/],
    ["stops containers", { stopped: true }, undefined, /of containers that are stopped$/],
    ["denies those that the targets open", { outward: { port: 80 } }, "outward", /^nobody looks/],
    ["denies those that peers open", { peers: { ways: ["ingress"] } }, "inward", /^nobody looks/],
])("of an attack that %s, nothing is known", (_, proof, direction, reason) =>
    expect(notLookedAt(proof)).toEqual({ direction, became: "unknown", reason: expect.stringMatching(reason) }),
);

it.each<[Established, string | undefined, RegExp]>([
    [{ became: "cut" }, undefined, /^$/],
    [
        { became: "survived" },
        "established-not-cut",
        /survived the attack, .*pulumi config set experiment\.established any/,
    ],
    [
        { became: "unknown", reason: "why" },
        "established-unknown",
        /it is unknown whether .*: why; or accept any outcome/,
    ],
])("if they must be cut, and %o, the reason is %s", (became, code, message) => {
    const why = whyEstablishedNotCut(became, { settings: "experiment." });
    expect(why?.code).toBe(code);
    expect(why?.message ?? "").toMatch(message);
});
