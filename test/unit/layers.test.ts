import { cruise, type ICruiseResult } from "dependency-cruiser";
import readOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const project = join(__dirname, "..", "..");

/** A small repository that breaks each kind of rule once. */
const files = {
    "chaos/attack.ts": 'import type { Shop } from "../components/shop"; export interface Attack { on: Shop }',
    "chaos/kinds/answer.ts": "",
    "chaos/kinds/look.ts": 'import "../targets/choose";',
    "chaos/cycle.ts": 'import type { Other } from "./other"; export interface Cycle { other: Other }',
    "chaos/other.ts": 'import type { Cycle } from "./cycle"; export interface Other { cycle: Cycle }',
    "chaos/targets/choose.ts": 'import "../kinds/answer";',
    "chaos/targets/containers.ts": "",
    "chaos/index.ts": "",
    "chaos/pods/built-programs.ts": "export interface Programs {}",
    "components/proof.ts": 'import "../chaos/attack"; import "../chaos/index";',
    "components/shop.ts": 'import "@pulumi/kubernetesx"; export interface Shop {}',
    "index.ts": 'import "./chaos/index"; import "./components/shop"; import "./sandbox/up";',
    "node_modules/@pulumi/kubernetesx/index.js": "",
    "package.json": "{}",
    "sandbox/up.ts": 'import "../toolchain/install"; import "./nowhere";',
    "services/agent.ts": 'import "../chaos/targets/containers"; import "../chaos/attack";',
    "test/shop.test.ts": 'import "../components/shop"; import "@pulumi/kubernetesx";',
    "toolchain/bundle.ts": 'import "../chaos/pods/built-programs";',
    "toolchain/install.ts": 'import type { Programs } from "../chaos/pods/built-programs";',
    "toolchain/tested.ts": 'import "../test/shop.test";',
};

it("the layer rules report each violation, and nothing else", async () => {
    const folder = mkdtempSync(join(tmpdir(), "layers-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [file, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), content);
    }
    const options = await readOptions(join(project, ".dependency-cruiser.cjs"));
    const { output } = await cruise(["."], { ...options, baseDir: folder });
    const { violations } = (output as ICruiseResult).summary;
    expect(violations.map(({ from, to, rule }) => `${from} → ${to}: ${rule.name}`).sort()).toEqual([
        "chaos/attack.ts → components/shop.ts: chaos may import no other part",
        "chaos/cycle.ts → chaos/other.ts: no import cycles",
        "chaos/kinds → chaos/targets: no cycles among the folders of chaos",
        "chaos/targets → chaos/kinds: no cycles among the folders of chaos",
        "chaos/targets/choose.ts → chaos/kinds/answer.ts: chaos/targets may import only what is below it",
        expect.stringMatching("^components/proof.ts → chaos/attack.ts: components may import chaos/index.ts, "),
        expect.stringMatching("^components/shop.ts → .*: package.json lists each imported package"),
        expect.stringMatching("^index.ts → sandbox/up.ts: index.ts may import chaos/index.ts, "),
        "sandbox/up.ts → ./nowhere: no unresolvable imports",
        expect.stringMatching("^services/agent.ts → chaos/attack.ts: services may import chaos/cluster/"),
        "toolchain/bundle.ts → chaos/pods/built-programs.ts: toolchain may import only types from chaos",
        "toolchain/tested.ts → test/shop.test.ts: only tests import tests",
    ]);
});
