import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PartsProgress, secondsLeft, spoken } from "../../../toolchain/parts/progress";

const plan = [
    { title: "Kubernetes", minutes: 5 },
    { title: "CoreDNS", minutes: 2 },
    { title: "an image", minutes: 1 },
];

describe("the estimate of the time left", () => {
    const [kubernetes, coreDns, image] = plan as [(typeof plan)[0], (typeof plan)[0], (typeof plan)[0]];
    it.each([
        ["all of it at first", plan, 480],
        ["less as parts go on", [{ ...kubernetes, seconds: 60 }, coreDns, { ...image, seconds: 30 }], 390],
        ["nothing of a part that takes longer than expected", [{ ...kubernetes, seconds: 900 }, coreDns, image], 180],
        ["more on a slower machine", [{ ...kubernetes, seconds: 600, done: true }, coreDns, image], 270],
        ["nothing in the end", plan.map((part) => ({ ...part, seconds: 100, done: true })), 0],
    ])("is %s", (_, builds, expected) => expect(secondsLeft(builds)).toBe(expected));

    it("is given in seconds, then in minutes", () => {
        expect([spoken(45.4), spoken(89), spoken(720)]).toEqual(["45 s", "89 s", "12 min"]);
    });
});

describe("progress", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it("reports in a log the start and end of each part, the time left, and every 20 s what is built", async () => {
        const lines: string[] = [];
        const print = (line: string) => lines.push(line);
        const progress = new PartsProgress(plan, { print, show: () => undefined, isLive: false });
        const kubernetes = progress.begin(0);
        kubernetes.line("k8s.io/api/core/v1");
        const image = progress.begin(2);
        await vi.advanceTimersByTimeAsync(30_000);
        image.failed();
        await vi.advanceTimersByTimeAsync(15_000);
        kubernetes.finished();
        progress.end();
        await vi.advanceTimersByTimeAsync(60_000);
        expect(lines).toEqual([
            "Building 3 parts, once; about 8 min left",
            "[1/3] Kubernetes …",
            "[3/3] an image …",
            "[1/3] Kubernetes: 20 s so far; about 7 min left; at k8s.io/api/core/v1",
            "[3/3] an image: 20 s so far; about 7 min left",
            "[3/3] an image ✘ after 30 s",
            "[1/3] Kubernetes: 40 s so far; about 7 min left; at k8s.io/api/core/v1",
            "[1/3] Kubernetes ✔ 45 s",
        ]);
    });

    it("shows on a terminal what is built below what is finished", async () => {
        const printed: string[] = [];
        let live: readonly string[] = [];
        const show = (lines: readonly string[]) => (live = lines);
        const progress = new PartsProgress(plan, { print: (line) => printed.push(line), show, isLive: true });
        const kubernetes = progress.begin(0);
        kubernetes.line("net/http");
        await vi.advanceTimersByTimeAsync(2_000);
        expect(live).toEqual(["[1/3] Kubernetes: 2 s so far; about 8 min left; at net/http"]);
        kubernetes.finished();
        progress.end();
        expect([printed.at(-1), live]).toEqual(["[1/3] Kubernetes ✔ 2 s", []]);
    });
});
