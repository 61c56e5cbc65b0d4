import { describe, expect, it } from "vitest";
import type { ConnectionReport } from "../../../experiments/deadline/report";
import { Witness } from "../../../experiments/witness";
import type { Target } from "../../../shared/containers";
import type { Cluster } from "../../../shared/kubernetes";

const target = {
    namespace: "demo",
    pod: "hot-deals-1",
    uid: "1",
    container: "hot-deals",
    containerId: "c",
    address: "10.0.0.1",
    ports: [8080],
} as Target;
const endpoint = "10.0.0.1:8080";
const lengthMs = 30_000;

/** What becomes of a run's proof where the Job saw this in its length, once it had seen the target cut off. */
async function stillCut(reports: readonly Omit<ConnectionReport, "at">[], everyMs = lengthMs / (reports.length + 1)) {
    const attackedAt = Date.now() - lengthMs;
    const log = [{ open: [], closed: [endpoint] }, ...reports]
        .map((report, index) => JSON.stringify({ at: attackedAt + index * everyMs, ...report }))
        .join("\n");
    const core = {
        listNamespacedPod: async () => ({
            items: [{ metadata: { name: "job" }, status: { containerStatuses: [{ state: { running: {} } }] } }],
        }),
        readNamespacedPodLog: async () => log,
    };
    return new Witness({ core } as unknown as Cluster, "demo", "job", "mark", [target], {}).stillCut({
        attackedAt,
        witnessedAt: attackedAt,
    });
}

describe("that the targets were cut off all the time is shown", () => {
    const cut = { open: [], closed: [endpoint] };

    it("where each look found them so", async () => expect(await stillCut([cut, cut, cut, cut])).toBeUndefined());

    it.each([
        ["one look found them reachable", [cut, { open: [endpoint], closed: [] }, cut, cut], /reached again/],
        ["one look did not find them marked", [cut, { open: [], closed: [] }, cut, cut], /lost its mark/],
        ["the last look did not find them marked", [cut, cut, cut, { open: [], closed: [] }], /lost its mark/],
    ])("and not where %s", async (_what, reports, doubt) => expect(await stillCut(reports)).toMatch(doubt));

    it("and not where nobody looked for long, in the middle or at the end", async () => {
        expect(await stillCut([cut])).toMatch(/said nothing for 15 s/);
        expect(await stillCut([cut, cut, cut, cut], 4_000)).toMatch(/said nothing for 14 s/);
    });
});
