import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

interface Sample {
    at: number;
    status: "UP" | "DOWN" | "UNKNOWN";
    latencyMs?: number;
}

interface Picture {
    answered: string;
    failed: string;
    grid: { y: number; text: string }[];
    end: number;
}

/** What the browser's file exports: no build step adds types to it. */
let latency: {
    withSample: (samples: Sample[], sample: Sample) => Sample[];
    pictureOf: (samples: Sample[], size: { width: number; height: number }) => Picture;
    rangeOf: (samples: Sample[]) => string;
    sentenceOf: (name: string, samples: Sample[]) => string;
};
beforeAll(async () => {
    latency = await import(join(__dirname, "../../../services/ui/latency.browser.js"));
});

const size = { width: 300, height: 72 };
const up = (seconds: number, latencyMs: number): Sample => ({ at: seconds * 1_000, status: "UP", latencyMs });
const down = (seconds: number, latencyMs: number): Sample => ({ at: seconds * 1_000, status: "DOWN", latencyMs });
const unknown = (seconds: number): Sample => ({ at: seconds * 1_000, status: "UNKNOWN" });
const picture = (...samples: Sample[]) => latency.pictureOf(samples, size);
const heightOf = (path: string) => Number(/^M[\d.]+ ([\d.]+)/.exec(path)![1]);

describe("a department's latency in words", () => {
    it.each<[string, Sample[]]>([
        ["12 ms now, 12 ms in the last minute", [up(1, 12)]],
        ["12 ms now, between 9 and 2,015 ms in the last minute", [up(1, 9), up(2, 2_015), up(5, 12)]],
        ["down now, 9 ms in the last minute, 1 of 2 requests failed", [up(1, 9), down(2, 3)]],
        ["down now, no answer in the last minute, 2 of 2 requests failed", [down(1, 3), down(2, 3)]],
        ["unknown now, 9 ms in the last minute", [up(1, 9), unknown(2)]],
        ["unknown now, no answer in the last minute", [unknown(2)]],
    ])("%s", (sentence, samples) => expect(latency.sentenceOf("Toys", samples)).toBe(`Toys: ${sentence}`));

    it("is of the last minute alone", () => {
        const samples = [up(0, 5_000), up(1, 9), up(60, 9)].reduce<Sample[]>(latency.withSample, []);
        expect(latency.rangeOf(latency.withSample(samples, up(60.5, 12)))).toBe(
            "between 9 and 12 ms in the last minute",
        );
    });
});

describe("the line of a department's latency", () => {
    it("has the latest answer at the right, and one of a minute ago at the left", () => {
        const { answered, end } = picture(up(0, 10), up(60, 10));
        const places = [...answered.matchAll(/M([\d.]+)/g)].map(([, x]) => Number(x));
        expect(places).toEqual([4, end - 4]);
    });

    it("has 10 ms and 2 s well apart, and nothing outside of the picture", () => {
        const [fast, slow] = [heightOf(picture(up(1, 10)).answered), heightOf(picture(up(1, 2_000)).answered)];
        expect(fast - slow).toBeGreaterThan(size.height / 3);
        for (const ms of [0, 1, 60_000]) {
            const height = heightOf(picture(up(1, ms)).answered);
            expect(height).toBeGreaterThan(0);
            expect(height).toBeLessThan(size.height);
        }
    });

    it("meets the scale", () => {
        const { grid, answered } = picture(up(1, 100));
        expect(grid.map(({ text }) => text)).toEqual(["10 ms", "100 ms", "1 s"]);
        expect(grid[1]!.y).toBe(heightOf(answered));
    });

    it.each<[string, Sample]>([
        ["failed", down(2, 5)],
        ["is unknown", unknown(2)],
    ])("is broken where an answer %s", (_what, between) => {
        expect(picture(up(1, 9), between, up(3, 9)).answered.match(/M/g)).toHaveLength(2);
        expect(picture(up(1, 9), up(2, 9), up(3, 9)).answered).toMatch(/^M[^M]+L[^M]+L[^M]+$/);
    });

    it("is broken where the page was not visible", () => {
        expect(picture(up(1, 9), up(31, 9)).answered.match(/M/g)).toHaveLength(2);
    });

    it("has a mark for each failure, and none for what is unknown", () => {
        expect(picture(up(1, 9), down(2, 5), unknown(3), down(4, 2_000)).failed.match(/M/g)).toHaveLength(2);
        expect(picture(unknown(1), up(2, 9)).failed).toBe("");
    });
});
