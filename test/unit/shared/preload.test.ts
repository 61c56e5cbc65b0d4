import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const preload = join(__dirname, "..", "..", "..", "shared", "preload.js");

describe("a program of npm run", () => {
    it("ends with what nobody caught, and not as if all were well", () => {
        const { status, stderr } = spawnSync(
            "node",
            ["--require", preload, "--eval", 'void Promise.reject(new Error("lost"))'],
            { encoding: "utf8" },
        );
        expect(status).toBe(1);
        expect(stderr).toContain("Error: lost");
    });
});
