import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import packageJson from "../../chaos/package.json";
import * as exported from "../../chaos/index";
import { type Tarball, tarballMistakes } from "../../cli/release-checks";
import { project } from "../../cli/stack-file";
import { kubeconfigOf } from "../support/kubeconfig";
import { scratchFolder } from "../support/scratch";
import { pack, packageName, unpack } from "../support/tarballs";
import { find, kinds, recordGraph } from "../unit/graph/support";

// The compiler alone takes ten seconds of a quiet machine.
vi.setConfig({ hookTimeout: 300_000 });

/** A project that has installed the package from its tarball. */
const folder = scratchFolder();
let tarball: Tarball;
let installed: string;

beforeAll(async () => {
    const packed = await pack(folder);
    tarball = packed;
    installed = unpack(packed.path, folder);
    symlinkSync(join(project, "node_modules"), join(installed, "node_modules"));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(installed, join(folder, "node_modules", packageName));
});

const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
const names = Object.keys(exported).sort().join();

it("the tarball has what programs need, nothing else, and few enough bytes", () => {
    expect(tarballMistakes(tarball)).toEqual([]);
});

it("a program gets what the package exports, by require", () => {
    const program = `console.log(Object.keys(require("${packageName}")).sort().join())`;
    expect(node("--eval", program).stdout.trim()).toBe(names);
});

it("a program gets what the package exports, by import", () => {
    const program = `import { ${names} } from "${packageName}"; console.log([${names}].includes(undefined))`;
    const { stdout, stderr } = node("--input-type=module", "--eval", program);
    expect(stdout.trim(), stderr).toBe("false");
});

it.each(Object.entries(packageJson.bin))("the command %s starts", (name, path) => {
    expect(node(join(installed, path), "--help").stdout).toContain(`Usage: ${name}`);
});

it("a report waits for neither Pulumi's SDK nor OpenTelemetry, which take longer to load than all else", () => {
    const loaded = `process.on("exit", () => console.log(JSON.stringify(Object.keys(require.cache))))`;
    const start = `process.argv[2] = "--help"; require("./package/${packageJson.bin["chaos-report"]}")`;
    const { stdout } = node("--eval", `${loaded}; ${start}`);
    const modules = JSON.parse(stdout.trim().split("\n").at(-1)!) as string[];
    expect(modules.filter((path) => /@pulumi|@opentelemetry/.test(path))).toEqual([]);
    expect(modules.some((path) => path.includes("zod"))).toBe(true);
});

it("an experiment runs the steps of the package, and the state has them too", async () => {
    const { Experiment } = createRequire(join(folder, "program.js"))(packageName) as typeof exported;
    const asked = await recordGraph(
        async () =>
            void new Experiment("it", {
                enabled: true,
                kubeconfig: kubeconfigOf("a", "https://127.0.0.1:1"),
                hypothesis: "It holds.",
                attacks: [{ kind: "kill", target: "k8s.deployment=web,k8s.namespace=demo" }],
                checks: [{ kind: "http", service: "front", port: 80, path: "/" }],
            }),
        {
            "it-steady-state": { runName: "it-0a1b2c3d", pass: "0".repeat(16) },
            "it-targets": { attacks: [{ name: "kill", matching: 0, targets: [] }] },
            "it-check": { verdict: "PASSED" },
        },
    );
    const step = find(asked, kinds.command, "it-steady-state");
    const ran = (command: unknown) =>
        spawnSync("sh", ["-c", `${command as string}-no`], { cwd: "/", input: step.stdin as string, encoding: "utf8" });
    const unknown = (name: string) => `"${name}-no" is not a step of an experiment`;
    expect(ran(step.create).stderr).toContain(unknown("steady-state"));
    expect(ran(step.delete).stderr).toContain(unknown("recovery"));
});

let plugin: ChildProcess | undefined;
afterAll(() => plugin?.kill("SIGKILL"));

it("Pulumi's programs in other languages get a plugin, which prints its port", async () => {
    plugin = spawn(process.execPath, ["--eval", 'require("./package/plugin.js")()'], { cwd: folder });
    const printed = await new Promise<string>((resolve) => {
        plugin!.stdout!.once("data", (text: Buffer) => resolve(text.toString()));
        plugin!.stderr!.once("data", (text: Buffer) => resolve(text.toString()));
    });
    expect(printed).toMatch(/^\d+\n$/);
});
