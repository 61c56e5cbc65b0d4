import { statSync } from "node:fs";
import { expect, it } from "vitest";
import { bundle, runToExit } from "./support/programs";

it.each(["gateway", "catalogue"] as const)(
    "the %s exits with 1 and logs every mistake in its environment",
    async (name) => {
        const { code, output } = await runToExit(name, { PORT: "none" });
        expect(code).toBe(1);
        const entry = JSON.parse(output.trim()) as { level: string; mistakes: string[] };
        expect(entry.level).toBe("fatal");
        expect(entry.mistakes.length).toBe(4);
    },
);

it.each(["gateway", "catalogue"] as const)("the bundle of the %s fits into a ConfigMap with room to spare", (name) => {
    expect(statSync(bundle(name)).size).toBeLessThan(900 * 1000);
});
