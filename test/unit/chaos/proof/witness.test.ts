import { describe, expect, it } from "vitest";
import { JobLog } from "../../../../chaos/witness/job-log";
import type { ConnectionReport } from "../../../../chaos/witness/protocol";
import { PositiveControl } from "../../../../chaos/proof/positive-control";
import { Witness, type WitnessArgs } from "../../../../chaos/proof/witness";
import type { Target } from "../../../../chaos/targets/containers";
import type { Cluster } from "../../../../chaos/cluster/client";

const target: Target = {
    namespace: "demo",
    pod: "hot-deals-1",
    uid: "1",
    container: "hot-deals",
    containerId: "c",
    address: "10.0.0.1",
    ports: [8080],
};
const endpoint = "10.0.0.1:8080";
const lengthMs = 30_000;

/** A witness whose Job has logged these reports. */
function witnessOf(reports: readonly ConnectionReport[], watching: Partial<WitnessArgs> = { inward: {} }): Witness {
    let log = "";
    const jobLog = new JobLog((line) => (log += line), 1);
    for (const report of reports) jobLog.looked(report);
    const pod = {
        metadata: { name: "job", ownerReferences: [{ uid: "u", controller: true }] },
        status: { containerStatuses: [{ state: { running: {} } }] },
    };
    const get = async () => ({ metadata: { uid: "u" } });
    const cluster = { get, all: async () => [pod], log: async () => log } as unknown as Cluster;
    const run = { cluster, namespace: "demo", job: "job", targetLabel: "label", targets: [target] };
    return new Witness({ ...run, ...watching });
}

/** What becomes of a run's proof where the Job saw this in its length, once it had seen the target cut off. */
async function whyNotCut(reports: readonly Omit<ConnectionReport, "at">[], everyMs = lengthMs / (reports.length + 1)) {
    const witnessedAt = Date.now() - lengthMs;
    const all = [{ open: [], closed: [endpoint] }, ...reports];
    return witnessOf(all.map((report, index) => ({ at: witnessedAt + index * everyMs, ...report }))).whyNotCut({
        witnessedAt,
        askedAt: performance.now() - lengthMs,
    });
}

describe("a fault is proven by probes through its Service", () => {
    const name = "hot-deals-1 through hot-deals:80";
    const cut = (hit: string[], closed: string[], passed: string[] = [], open: string[] = []) =>
        witnessOf([{ at: 1, open, closed }], { reported: { hit, passed } }).cut();

    it("if all of them show it", async () => expect(await cut([name], [name])).toMatchObject({ witnessedAt: 1 }));

    it.each<[string, string[], string[], RegExp]>([
        ["one does not", [name], [], /probes were not affected: hot-deals-1/],
        ["there are none: no target was reached before it", [], [], /no probe reached a target/],
    ])("and not if %s", async (_, hit, closed, message) =>
        expect(await cut(hit, closed)).toMatchObject({
            inconclusive: { code: "attack-not-proven", message: expect.stringMatching(message) },
        }),
    );

    const passed = `${name}, with a request without x-session`;

    it("if requests that do not match pass, too", async () =>
        expect(await cut([name], [name], [passed], [passed])).toMatchObject({ witnessedAt: 1 }));

    it.each([
        ["such a request is affected", [name, passed], "positive-control-failed", passed],
        ["none was answered", [name], "attack-not-proven", "not every probe was answered"],
    ])("and not if %s", async (_, closed, code, message) =>
        expect(await cut([name], closed, [passed])).toMatchObject({
            inconclusive: { code, message: expect.stringContaining(message) },
        }),
    );

    it("and no longer if such a request is affected for a time during the run", async () => {
        const states = ["open", "closed", "closed", "closed", "closed", "closed", "open"];
        const reports = states.map((state, second) => ({
            at: second * 1_000,
            open: state === "open" ? [passed] : [],
            closed: state === "open" ? [name] : [name, passed],
        }));
        const why = (some: typeof reports) => {
            const witness = witnessOf(some);
            const chosen = { targets: [], leftOut: [] };
            const args = {
                cluster: {} as Cluster,
                proof: {},
                chosen,
                witness,
                reported: { spared: [], passed: [passed] },
            };
            return new PositiveControl(args).whyOverreachingByWitness(0);
        };
        expect(await why(reports)).toEqual({
            code: "positive-control-failed",
            message: `the attack also affects what it should not: ${passed}`,
        });
        expect(await why(reports.filter((_, index) => index < 3))).toBeUndefined();
    });
});

describe("the proof that the targets were cut off all the time", () => {
    const cut = { open: [], closed: [endpoint] };

    it("holds if each look found them cut off", async () =>
        expect(await whyNotCut([cut, cut, cut, cut])).toBeUndefined());

    it.each([
        ["one look found them reachable", [cut, { open: [endpoint], closed: [] }, cut, cut], /became reachable again/],
        ["one look did not find them labeled", [cut, { open: [], closed: [] }, cut, cut], /lost its label/],
        ["the last look did not find them labeled", [cut, cut, cut, { open: [], closed: [] }], /lost its label/],
    ])("does not hold if %s", async (_what, reports, inconclusive) =>
        expect((await whyNotCut(reports))?.inconclusive.message).toMatch(inconclusive),
    );

    it("names the pod that lost its label", async () =>
        expect((await whyNotCut([{ open: [], closed: [] }]))?.inconclusive.message).toBe(
            "the target hot-deals-1, at 10.0.0.1:8080, lost its label during the run",
        ));

    it("does not hold if there was no look for a long time, in the middle or at the end", async () => {
        expect((await whyNotCut([cut]))?.inconclusive.message).toMatch(/reported nothing for 15 s/);
        expect((await whyNotCut([cut, cut, cut, cut], 4_000))?.inconclusive.message).toMatch(
            /reported nothing for 14 s/,
        );
    });
});

describe("a port that must still accept connections", () => {
    const attackedAt = 100_000;
    const [open, closed] = [
        { open: [endpoint], closed: [] },
        { open: [], closed: [endpoint] },
    ];

    it.each<[string, [seconds: number, Omit<ConnectionReport, "at">][], object[]]>([
        [
            "accepts them all the time",
            [
                [-5, open],
                [0, open],
                [20, open],
            ],
            [],
        ],
        [
            "refuses them from the attack on",
            [
                [-5, open],
                [0, closed],
                [2, closed],
                [4, closed],
            ],
            [{ name: endpoint, still: true }],
        ],
        [
            "refuses them later, and again and again",
            [
                [-5, open],
                [9, closed],
                [11, closed],
                [13, closed],
            ],
            [{ name: endpoint, still: true }],
        ],
        [
            "refused them for a time",
            [
                [-5, open],
                [9, closed],
                [13, closed],
                [14, open],
            ],
            [{ name: endpoint, still: false }],
        ],
        [
            "was slow once",
            [
                [-5, open],
                [9, closed],
                [10.5, open],
                [20, closed],
                [21.5, open],
            ],
            [],
        ],
        [
            "refused them only before the attack",
            [
                [-20, open],
                [-9, closed],
                [-3, closed],
                [0, open],
            ],
            [],
        ],
        [
            "was not tried meanwhile",
            [
                [-5, open],
                [9, closed],
                [11, { open: [], closed: [] }],
                [13, closed],
                [15, closed],
            ],
            [],
        ],
        [
            "never accepted one",
            [
                [-5, closed],
                [0, closed],
                [4, closed],
                [9, closed],
            ],
            [],
        ],
    ])("that %s", async (_, reports, lost) => {
        const witness = witnessOf(
            reports.map(([seconds, report]) => ({ at: attackedAt + seconds * 1_000, ...report })),
        );
        expect(await witness.lostAmong([endpoint], attackedAt)).toEqual(lost);
        expect(await witness.lostAmong(["10.0.0.1:81"], attackedAt)).toEqual([]);
    });

    it("that never accepted one from the Job, and is known to have accepted others before", async () => {
        const witness = witnessOf([0, 2, 4].map((seconds) => ({ at: attackedAt + seconds * 1_000, ...closed })));
        expect(await witness.lostAmong([endpoint], attackedAt)).toEqual([]);
        expect(await witness.lostAmong([endpoint], attackedAt, [endpoint])).toEqual([{ name: endpoint, still: true }]);
    });
});
