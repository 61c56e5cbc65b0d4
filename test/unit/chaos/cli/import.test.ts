import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chaosImport } from "../../../../chaos/cli/import";

const files = join(__dirname, "import", "files");
const partition = join(files, "primary-partition.yaml");
const additions = ["--check", "https://shop.example/health", "--hypothesis", "The shop answers."];

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "chaos-import-"))));
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): { code: number; log: string; error: string } {
    const printed = { log: "", error: "" };
    const code = chaosImport(args, {
        log: (text) => (printed.log += text),
        error: (text) => (printed.error += text),
    });
    return { code, ...printed };
}

describe("`chaos import`", () => {
    it("writes a program's part, and says what was left out, there and on standard error", () => {
        const { code, log, error } = run(...additions, partition);
        expect(code).toBe(0);
        expect(log).toMatch(/^\/\/ Imported from .*primary-partition\.yaml\.\nimport type \{ DefinedExperiment \}/);
        expect(log).toContain("// - metadata.labels: is of the object");
        expect(log).toContain("export const ledgerPrimaryAloneExperiment: DefinedExperiment = {\n    hypothesis: ");
        expect(error).toContain("metadata.labels: is of the object");
    });

    it("names the line of a file that cannot be read, and repeats nothing of it", () => {
        const file = join(folder, "broken.yaml");
        for (const text of ['a: 1\npassword: "s3cr3t', "a: 1\npassword: *s3cr3t", "a: 1\npassword: !s3cr3t x"]) {
            writeFileSync(file, text);
            const { code, log, error } = run(...additions, file);
            expect([code, log]).toEqual([2, ""]);
            expect(error).toMatch(/broken\.yaml is not read: .* in line [23]/);
            expect(error).not.toContain("s3cr3t");
        }
    });

    it("writes nothing if something cannot be said, and names it", () => {
        const { code, log, error } = run("--hypothesis", "The shop answers.", partition);
        expect([code, log]).toEqual([1, ""]);
        expect(error).toContain("add --check URL");
    });

    it("writes the documents of which all can be said, and the exit code says that one is refused", () => {
        const file = join(folder, "several.yaml");
        const beacon = readFileSync(join(files, "beacon.yaml"), "utf8");
        writeFileSync(file, beacon.replace("action: pod-kill", "action: container-kill"));
        const { code, log, error } = run(...additions, file);
        expect(code).toBe(3);
        expect(log).toContain("validatorsAloneExperiment");
        expect(log).not.toContain("relayKill");
        expect(error).toContain("is imported without what is refused");
        expect(error).toContain("0.spec.action: container-kill: ");
    });

    it("--out writes a file for each experiment, and prints their names", () => {
        const out = join(folder, "new", "experiments");
        const { code, log, error } = run(...additions, "--out", out, join(files, "beacon.yaml"));
        expect(code).toBe(0);
        expect(readdirSync(out).sort()).toEqual(["relay-kill.ts", "validators-alone.ts"]);
        expect(log.split("\n")).toEqual(["relay-kill.ts", "validators-alone.ts"].map((name) => join(out, name)));
        const text = readFileSync(join(out, "relay-kill.ts"), "utf8");
        expect(text).toContain("export const relayKillExperiment");
        expect(text).not.toContain("validatorsAlone");
        expect(error).toContain("1.spec.mode");
    });

    it("--out writes over no file, and then writes none", () => {
        const out = mkdtempSync(join(folder, "out-"));
        writeFileSync(join(out, "validators-alone.ts"), "mine");
        const { code, log, error } = run(...additions, "--out", out, join(files, "beacon.yaml"));
        expect([code, log]).toEqual([2, ""]);
        expect(error).toContain(
            `--out must be a folder, new or without these files: ${join(out, "validators-alone.ts")}`,
        );
        expect(error).not.toContain("What is imported differs");
        expect(readFileSync(join(out, "validators-alone.ts"), "utf8")).toBe("mine");
        expect(existsSync(join(out, "relay-kill.ts"))).toBe(false);
    });

    it.each(["", "a-file", "a-file/inside"])("--out %j is refused with what it must be", (name) => {
        writeFileSync(join(folder, "a-file"), "mine");
        const out = name && join(folder, name);
        const { code, log, error } = run(...additions, "--out", out, join(files, "beacon.yaml"));
        expect([code, log]).toEqual([2, ""]);
        expect(error).toContain("--out must be a folder, new or without these files: E");
    });

    it("says why a file is not imported, and not that an experiment is at fault", () => {
        const file = join(folder, "empty.yaml");
        writeFileSync(file, "# nothing\n");
        expect(run(...additions, file)).toEqual({
            code: 1,
            log: "",
            error: `${file} is not imported:\n  has no document`,
        });
    });

    it("--set gives placeholders their values; without one, all are listed as options", () => {
        const file = join(folder, "placeholders.yaml");
        const text = readFileSync(partition, "utf8");
        writeFileSync(file, text.replace('"primary"', '"{{ role }}"').replace('"2m"', '"${DURATION}"'));
        expect(run(...additions, file)).toMatchObject({
            code: 1,
            error: expect.stringContaining("give them values by --set role=… --set DURATION=…"),
        });
        const { code, log } = run(...additions, "--set", "role=a=b", "--set", "DURATION=90s", file);
        expect(code).toBe(1);
        expect(log).toBe("");
        expect(run(...additions, "--set", "role=leader", "--set", "DURATION=90s", file)).toMatchObject({
            code: 0,
            log: expect.stringContaining("k8s.label.example.org/role=leader"),
        });
        expect(run(...additions, "--set", "hunter2", file)).toMatchObject({
            code: 2,
            error: expect.not.stringContaining("hunter2"),
        });
    });

    it("leaves out objects that are no experiments, and says so", () => {
        const file = join(folder, "with-namespace.yaml");
        const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: { name: chain }\n---\n";
        writeFileSync(file, namespace + readFileSync(join(files, "beacon.yaml"), "utf8"));
        const { code, log, error } = run(...additions, file);
        expect(code).toBe(0);
        expect(log).toContain("relayKillExperiment");
        expect(error).toContain('0.kind: "Namespace" is no experiment of Chaos Mesh, and is left out');
    });

    it("a name that is no word in TypeScript becomes one, and a remark stays in its comment", () => {
        const file = join(folder, "named.yaml");
        const object = {
            apiVersion: "chaos-mesh.org/v1alpha1",
            kind: "NetworkChaos",
            metadata: { name: "2nd.Try", namespace: "shop", "x\nevil()": 1 },
            spec: { action: "partition", mode: "all", direction: "both", duration: "10s", selector: { nodes: ["a"] } },
        };
        writeFileSync(file, JSON.stringify(object));
        const { code, log } = run(...additions, file);
        expect(code).toBe(0);
        expect(log).toContain("export const _2ndTryExperiment: DefinedExperiment");
        expect(log).toContain('new Experiment("2nd-try"');
        expect(log).toContain("// - metadata.x evil(): ");
    });

    it("wrong use is told at once, with what is allowed", () => {
        const { code, error } = run("--check", "gateway", "--namespace", "Shop", "--service", "a.b");
        expect(code).toBe(2);
        expect(error.split("\n")).toEqual([
            "--check is not an absolute URL, such as https://shop.example/products",
            expect.stringContaining('--namespace: "Shop" is not the name of a namespace; allowed: lower-case'),
            expect.stringContaining('--service: "a.b" is not the name of a service; allowed: lower-case'),
            "name exactly one file",
            "See: chaos import --help",
        ]);
        expect(run(join(folder, "none.yaml"))).toMatchObject({
            code: 2,
            error: expect.stringContaining("no such file"),
        });
        expect(run("--checks", "x")).toMatchObject({ code: 2, error: expect.stringContaining("--checks") });
    });

    it.each<[options: string[], said: string | undefined]>([
        [["--namespace", "other"], "--namespace other has no effect: the file names its namespaces"],
        [["--service", "other"], "--service other has no effect: no fault is written"],
        [["--set", "foo=bar"], "--set foo has no effect: the file has no such placeholder"],
        [["--namespace", "ledger"], undefined],
    ])("%j says that it has no effect, if so: %s", (options, said) => {
        const { code, error } = run(...additions, ...options, partition);
        expect(code).toBe(0);
        if (said === undefined) expect(error).not.toContain("no effect");
        else expect(error).toContain(said);
    });

    it("--set of one name twice is refused, without the values", () => {
        const { code, error } = run(...additions, "--set", "x=hunter2", "--set", "x=b", partition);
        expect(code).toBe(2);
        expect(error).toContain("--set x is there twice");
        expect(error).not.toContain("hunter2");
    });

    it("--check of what may be a Service says so, as for an address in a file", () =>
        expect(run(...additions, "--check", "http://gateway.shop:8080/p", partition).error).toContain(
            "--check: is asked from where the update runs, not from a pod",
        ));

    it("a password in an address is refused, and not repeated", () => {
        const { code, error } = run("--check", "https://me:hunter2@shop.example/", partition);
        expect(code).toBe(2);
        expect(error).toContain("--check has a password");
        expect(error).not.toContain("hunter2");
    });

    it("--help has all options", () => {
        const { code, log } = run("--help");
        expect(code).toBe(0);
        for (const option of ["--check", "--hypothesis", "--namespace", "--service", "--set", "--out"])
            expect(log).toContain(option);
    });
});
