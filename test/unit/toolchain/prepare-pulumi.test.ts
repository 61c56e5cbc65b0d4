import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PULUMI_CLI_VERSION } from "../../../toolchain/pulumi/versions";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";

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

it("an installed CLI is used if parts cannot be built", async () => {
    const bin = join(home, "versions", PULUMI_CLI_VERSION, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "pulumi"), `#!/bin/sh\necho v${PULUMI_CLI_VERSION}\n`, { mode: 0o755 });
    for (const set of ["PULUMI_BACKEND_URL", "PULUMI_VERSION", "PULUMI_SKIP_UPDATE_CHECK"]) vi.stubEnv(set, "set");
    vi.spyOn(process, "getuid").mockReturnValue(1_000);
    expect((await preparePulumi(home)).command).toBe(join(bin, "pulumi"));
});
