import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { preparePulumi } from "../../../sandbox/preparePulumi";

let home: string;
beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "pulumi-home-"));
    vi.stubEnv("PULUMI_HOME", home);
});
afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    rmSync(home, { recursive: true });
});

it("whoever cannot have the sandbox works with the CLI that is there, and nothing is built", async () => {
    const bin = join(home, "versions", "3.232.0", "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "pulumi"), "#!/bin/sh\necho v3.232.0\n", { mode: 0o755 });
    vi.stubEnv("PULUMI_BACKEND_URL", "file:///elsewhere");
    vi.spyOn(process, "getuid").mockReturnValue(1_000);
    expect((await preparePulumi(home)).command).toBe(join(bin, "pulumi"));
});
