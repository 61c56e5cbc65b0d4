import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Cluster } from "../../../../chaos/cluster/client";
import { JobLog } from "../../../../chaos/witness/job-log";
import type { ConnectionReport } from "../../../../chaos/witness/protocol";
import { JobLogReader } from "../../../../chaos/proof/job-log-reader";
import { cutSince, whyNotCut } from "../../../../chaos/proof/judge";
import { byWitness } from "../../../../chaos/proof/trials";
import type { Target } from "../../../../chaos/targets/containers";
import { startClock, stopClock } from "../support/time";

/** A pod's log, served as the kubelet does. */
class ServedLog {
    lines: { at: number; text: string }[] = [];
    /** Of all answers, in bytes. */
    served = 0;
    requests = 0;
    private readonly pod = {
        metadata: { name: "job", ownerReferences: [{ uid: "u", controller: true }] },
        status: { containerStatuses: [{ state: { running: {} } }] },
    };
    readonly cluster = {
        get: async () => ({ metadata: { uid: "u" } }),
        all: async () => [this.pod],
        log: async (_: object, { sinceSeconds }: { sinceSeconds?: number }) => {
            this.requests++;
            const from = sinceSeconds === undefined ? -Infinity : Date.now() - sinceSeconds * 1_000;
            const text = this.lines.flatMap((line) => (line.at >= from ? [line.text] : [])).join("");
            this.served += text.length;
            return text;
        },
    } as unknown as Cluster;
    readonly reader = new JobLogReader(this.cluster, "demo");
    log = this.begin();

    /** A process begins to write. */
    begin(): JobLog {
        this.lines = [];
        return new JobLog((text) => this.lines.push({ at: Date.now(), text }), Date.now());
    }

    get bytes(): number {
        return this.lines.reduce((sum, { text }) => sum + text.length, 0);
    }

    look(open: string[], closed: string[]): void {
        this.log.looked({ at: Date.now(), open, closed });
    }

    async reports(): Promise<Omit<ConnectionReport, "at">[]> {
        return (await this.reader.read(["job"])).reports.map(({ open, closed }) => ({ open, closed }));
    }
}

const endpoints = Array.from({ length: 2_000 }, (_, index) => `10.244.${index >> 8}.${index & 255}:8080`);
let served: ServedLog;
beforeEach(() => {
    stopClock();
    served = new ServedLog();
});
afterEach(startClock);

describe("a reader of the log knows", () => {
    it("what each look found that changed something", async () => {
        served.look([], []);
        served.look(["a", "b"], []);
        served.look(["b"], ["a"]);
        served.look([], ["a"]);
        expect(await served.reports()).toEqual([
            { open: [], closed: [] },
            { open: ["a", "b"], closed: [] },
            { open: ["b"], closed: ["a"] },
            { open: [], closed: ["a"] },
        ]);
    });

    it("a look at many targets only as a whole, in lines that no container runtime splits", async () => {
        served.look(endpoints, []);
        served.look([], endpoints);
        expect(await served.reports()).toEqual([
            { open: endpoints, closed: [] },
            { open: [], closed: endpoints },
        ]);
        expect(Math.max(...served.lines.map(({ text }) => text.length))).toBeLessThan(16_384);
    });

    it("what a restarted container saw, and not what the one before saw as its own", async () => {
        served.look(["a"], []);
        await served.reports();
        vi.advanceTimersByTime(5_000);
        served.log = served.begin();
        served.look([], ["b"]);
        expect(await served.reports()).toEqual([
            { open: ["a"], closed: [] },
            { open: [], closed: ["b"] },
        ]);
    });

    it("everything although a clock was set back, which hides lines from it", async () => {
        served.look(["a"], []);
        await served.reports();
        vi.advanceTimersByTime(20_000);
        served.look([], ["a"]);
        vi.advanceTimersByTime(20_000);
        served.look(["a"], []);
        served.lines.forEach((line, index) => (line.at -= index === 1 ? 60_000 : 0));
        expect(await served.reports()).toHaveLength(3);
    });

    it("nothing of a log whose beginning is lost", async () => {
        served.look(["a"], []);
        served.look([], ["a"]);
        served.lines.shift();
        expect(await served.reports()).toEqual([]);
    });

    it("what the kept connections showed in each look, and that a look without a change showed the same", async () => {
        const look = (kept?: ConnectionReport["kept"]) => {
            served.log.looked({ at: Date.now(), open: [], closed: ["a"], kept });
            vi.advanceTimersByTime(3_000);
        };
        look();
        look({ a: "answering", reference: "answering" });
        look({ a: "answering", reference: "answering" });
        look({ a: "silent", reference: "answering" });
        look({ reference: "ended" });
        const { reports } = await served.reader.read(["job"]);
        expect(reports.map(({ kept }) => kept)).toEqual([
            {},
            { a: "answering", reference: "answering" },
            { a: "answering", reference: "answering" },
            { a: "silent", reference: "answering" },
            { reference: "ended" },
        ]);
        expect(new Set(reports.map(({ closed }) => closed)).size).toBe(1);
    });

    it("how long the look had tried that found an endpoint closed, and of no other look", async () => {
        for (const closed of [[], ["a"], ["a"], ["a", "b"], ["b"]]) {
            served.log.looked({ at: Date.now(), open: [], closed, triedMs: 1_001 });
            vi.advanceTimersByTime(3_000);
        }
        const { reports } = await served.reader.read(["job"]);
        expect(reports.map(({ triedMs }) => triedMs)).toEqual([undefined, 1_001, undefined, 1_001, undefined]);
    });

    it("each kill once, with the label of its attack", async () => {
        const kill = { at: Date.now(), killed: { pod: "a", uid: "1", label: "x" } };
        served.log.reported(kill);
        await served.reader.read(["job"]);
        expect((await served.reader.read(["job"])).kills).toEqual([kill]);
    });
});

it("60 min on 2,000 targets are proven from at most 1 KB/s of log, not all read again each time", async () => {
    const target = (endpoint: string, index: number): Target => ({
        namespace: "demo",
        pod: `p${index}`,
        uid: String(index),
        container: "c",
        containerId: "c",
        address: endpoint.split(":")[0]!,
        ports: [8080],
    });
    const witness = byWitness({ proof: { inward: {} }, chosen: { targets: endpoints.map(target) } });
    const reports = async () => (await served.reader.read(["job"])).reports;
    const lookMs = 2_000;
    served.look(endpoints, []);
    vi.advanceTimersByTime(lookMs);
    served.look([], endpoints);
    const { at } = cutSince(witness, await reports()) as { at: number };
    const atFirst = served.served;
    for (let passed = 0; passed < 3_600_000; passed += lookMs) {
        vi.advanceTimersByTime(lookMs);
        served.look([], endpoints);
        if (passed % 60_000 === 0) await reports();
    }
    expect(whyNotCut(witness, await reports(), at, Date.now())).toBeUndefined();
    expect(served.bytes / 3_600).toBeLessThan(1_024);
    expect(served.served - atFirst).toBeLessThan(1.5 * served.bytes);

    served.look([endpoints[1_999]!], endpoints.slice(0, 1_999));
    served.look([], endpoints);
    expect(whyNotCut(witness, await reports(), at, Date.now())?.message).toContain("became reachable again");
});
