import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ensureParts } from "../../../toolchain/parts/ensure";
import type { InstalledPart, Workshop } from "../../../toolchain/parts/part";
import { run } from "../../../toolchain/parts/run";
import { local, until } from "../../support/until";

let events: string[];
let folder: string;

beforeEach(() => {
    events = [];
    folder = mkdtempSync(join(tmpdir(), "chaos-shop-ensure-"));
    vi.stubEnv("XDG_CACHE_HOME", folder);
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
});

/** A part that is there after its work. */
function part(name: string, about: Partial<InstalledPart>, work: (workshop: Workshop) => Promise<unknown>) {
    let present = false;
    const install = async (workshop: Workshop) => {
        events.push(`${name} begins`);
        await work(workshop);
        events.push(`${name} ends`);
        present = true;
    };
    const common = { kind: "installed", version: "1", title: name, minutes: 1, needs: [] } as const;
    return { ...common, name, ...about, isPresent: async () => present, install } satisfies InstalledPart;
}

const seen = (event: string) => until(event, () => events.includes(event), local);
const nothing = async () => undefined;

it("makes compiled parts in turn and others meanwhile, each once and after what it needs", async () => {
    const go = part("go", { isCompiled: true }, nothing);
    const cli = part("cli", { isCompiled: true }, (workshop) =>
        Promise.all([workshop.provide(go), seen("packages ends")]),
    );
    const kube = part("kube", { isCompiled: true, needs: [go] }, nothing);
    const packages = part("packages", {}, nothing);
    const image = part("image", { needs: [packages, kube] }, nothing);
    await ensureParts([cli, image]);
    expect(events.filter((event) => event.startsWith("go"))).toEqual(["go begins", "go ends"]);
    expect(events.indexOf("kube begins")).toBeGreaterThan(events.indexOf("cli ends"));
    expect(events.slice(-2)).toEqual(["image begins", "image ends"]);
});

it("ends what runs, and begins nothing more, when a part fails", async () => {
    const failing = part("failing", { isCompiled: true }, async () => {
        await seen("slow begins");
        throw new Error("no disk");
    });
    const slow = part("slow", {}, ({ log }) => run("sleep", ["60"], log));
    const next = part("next", { isCompiled: true }, nothing);
    await expect(ensureParts([failing, slow, next])).rejects.toThrow(
        /^failing could not be built: no disk\nFull log: /,
    );
    expect(events).toEqual(["failing begins", "slow begins"]);
});
