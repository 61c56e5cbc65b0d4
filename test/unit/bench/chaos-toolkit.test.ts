import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { isInstalledIn } from "../../../bench/peers/chaos-toolkit";

const folder = mkdtempSync(join(tmpdir(), "chaos-toolkit-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("an interrupted installation, or one of other versions, does not count", () => {
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin", "chaos"), "");
    expect(isInstalledIn(folder)).toBe(false);
    writeFileSync(join(folder, "installed"), "chaostoolkit==1.18.0");
    expect(isInstalledIn(folder)).toBe(false);
});
