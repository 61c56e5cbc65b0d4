import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PartsProgress, secondsLeft, spoken } from "../../../toolchain/parts/progress";

const plan = [
    { title: "Kubernetes", minutes: 5 },
    { title: "CoreDNS", minutes: 2 },
    { title: "an image", minutes: 1 },
];

describe("the estimate of the time left", () => {
    it.each([
        ["all of it at first", 0, 0, 0, 480],
        ["less as the current part goes on", 0, 0, 60, 420],
        ["nothing of a part that takes longer than expected, but all that follow", 0, 0, 900, 180],
        ["more on a slower machine", 1, 600, 0, 270],
        ["nothing in the end", 3, 480, 0, 0],
    ])("is %s", (_, done, doneSeconds, currentSeconds, expected) => {
        expect(secondsLeft(plan, done, doneSeconds, currentSeconds)).toBe(expected);
    });

    it("is given in seconds, then in minutes", () => {
        expect([spoken(45.4), spoken(89), spoken(720)]).toEqual(["45 s", "89 s", "12 min"]);
    });
});

describe("progress", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it("reports in a log the start and end of each part, the time left, and every 20 s that the build goes on", async () => {
        const lines: string[] = [];
        const progress = new PartsProgress({ print: (line) => lines.push(line), show: () => undefined, isLive: false });
        progress.begin(plan);
        progress.started();
        progress.line("k8s.io/api/core/v1");
        await vi.advanceTimersByTimeAsync(45_000);
        progress.finished();
        progress.started();
        progress.failed();
        progress.end();
        await vi.advanceTimersByTimeAsync(60_000);
        expect(lines).toEqual([
            "Building 3 parts, once; about 8 min left",
            "[1/3] Kubernetes …",
            "[1/3] Kubernetes: 20 s so far; about 8 min left; at k8s.io/api/core/v1",
            "[1/3] Kubernetes: 40 s so far; about 7 min left; at k8s.io/api/core/v1",
            "[1/3] Kubernetes ✔ 45 s",
            "[2/3] CoreDNS …",
            "[2/3] CoreDNS ✘ after 0 s",
        ]);
    });

    it("shows the current part below the finished ones on a terminal", async () => {
        const printed: string[] = [];
        let live: readonly string[] = [];
        const show = (lines: readonly string[]) => (live = lines);
        const progress = new PartsProgress({ print: (line) => printed.push(line), show, isLive: true });
        progress.begin(plan);
        progress.started();
        progress.line("net/http");
        await vi.advanceTimersByTimeAsync(2_000);
        expect(live).toEqual(["[1/3] Kubernetes: 2 s so far; about 8 min left; at net/http"]);
        progress.finished();
        progress.end();
        expect([printed.at(-1), live]).toEqual(["[1/3] Kubernetes ✔ 2 s", []]);
    });
});
