import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

it("a command prints an uncaught error and exits with 1", () => {
    const program = 'require("./cli/session"); void Promise.reject(new Error("lost"));';
    const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", "--eval", program], {
        cwd: join(__dirname, "..", ".."),
        encoding: "utf8",
    });
    expect(stderr).toContain("Error: lost");
    expect(status).toBe(1);
});
