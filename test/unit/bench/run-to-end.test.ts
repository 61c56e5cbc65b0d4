import { describe, expect, it } from "vitest";
import { runToEnd } from "../../../bench/peers/run-to-end";

const shell = (script: string) => runToEnd({ command: "sh", args: ["-c", script], cwd: "." });

describe("a command that is run to its end", () => {
    it("gives all that it has printed, and its exit code", async () => {
        const { code, printed } = await shell("head -c 1000000 /dev/zero | tr '\\0' x; echo end >&2; exit 3");
        expect([code, printed.length, printed.includes("end")]).toEqual([3, 1_000_004, true]);
    });

    it("is not waited for longer if a process that it leaves keeps its output open", async () => {
        const begun = performance.now();
        expect((await shell("sleep 20 & echo begun")).printed).toBe("begun\n");
        expect(performance.now() - begun).toBeLessThan(10_000);
    });
});
