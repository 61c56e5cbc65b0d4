import { execFile, type ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { project as repository } from "../../../cli/stack-file";
import { sandboxUp } from "../../../sandbox/node/up";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { fileBackend } from "../../../toolchain/pulumi/environment";
import { run } from "../../support/run-program";
import { pack, packageName, released } from "../../support/tarballs";

const quietly = ["--non-interactive", "--color", "never"];

interface Tools {
    pulumi: string;
    context: string;
}

/**
 * Projects of somebody who has only tarballs of the package, and examples. They share a folder, its modules and a
 * backend.
 */
export class PackedExamples {
    private constructor(
        private readonly folder: string,
        private readonly tools: Tools,
    ) {}

    /** Packs this version, and installs it beside released ones. @param names of examples whose modules are needed */
    static async open(...names: string[]): Promise<PackedExamples> {
        const { kubeconfig, context } = await sandboxUp();
        const folder = mkdtempSync(join(tmpdir(), "chaos-experiments-e2e-"));
        Object.assign(process.env, {
            KUBECONFIG: kubeconfig,
            PULUMI_BACKEND_URL: fileBackend(folder),
            PULUMI_CONFIG_PASSPHRASE: "only for this test",
        });
        const tools = { pulumi: (await preparePulumi(repository)).command, context };
        const tarballs = Object.entries({ ...released, current: (await pack(folder)).path });
        const versions = tarballs.map(([version, tarball]) => [moduleOf(version), `file:${tarball}`]);
        const dependencies = { ...modulesOf(names), ...Object.fromEntries(versions) };
        writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
        await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: folder });
        const examples = new PackedExamples(folder, tools);
        examples.use("current");
        return examples;
    }

    /** Changes the package's version in all projects. @param version a released one, or "current" */
    use(version: string): void {
        const modules = join(this.folder, "node_modules");
        rmSync(join(modules, packageName), { force: true });
        symlinkSync(moduleOf(version), join(modules, packageName));
    }

    /** A project with a new stack, which is not updated yet. */
    async project(example: string, config: Record<string, string> = {}): Promise<ExampleProject> {
        const path = join(mkdtempSync(join(this.folder, "project-")), example);
        cpSync(join(repository, "examples", example), path, { recursive: true });
        const project = new ExampleProject(path, this.tools);
        // What is tested is the order of things, not endurance.
        project.edit((program) => program.replace(/(window: \{ duration: )"\d+s"/, '$1"3s"'));
        await run(this.tools.pulumi, ["stack", "init", "dev", "--non-interactive"], { cwd: path });
        await project.set({ context: this.tools.context, ...config });
        return project;
    }

    /** A file of this version. */
    text(...path: string[]): string {
        return readFileSync(join(this.current(), ...path), "utf8");
    }

    /** The modules whose types this version's types need. */
    typeImports(): string[] {
        return [...this.text("dist", "index.d.ts").matchAll(/ from ["'](.+)["']/g)].map(([, module]) => module!);
    }

    /** What a command of this version prints. */
    async command(name: string, ...args: string[]): Promise<string> {
        const { bin } = JSON.parse(this.text("package.json")) as {
            bin: Record<string, string>;
        };
        return (await run(process.execPath, [join(this.current(), bin[name]!), ...args], { cwd: this.folder })).stdout;
    }

    private readonly current = () => join(this.folder, "node_modules", packageName);

    close(): void {
        rmSync(this.folder, { recursive: true, force: true });
    }
}

/** An example's folder and its stack. */
export class ExampleProject {
    constructor(
        private path: string,
        private readonly tools: Tools,
    ) {}

    async set(config: Record<string, string>): Promise<void> {
        const pairs = Object.entries(config).flatMap(([key, value]) => ["--plaintext", `${key}=${value}`]);
        await this.pulumi("config", "set-all", ...pairs);
    }
    async setSecret(key: string, value: string): Promise<void> {
        await this.pulumi("config", "set", "--secret", key, value);
    }
    up = () => this.pulumi("up", "--yes", "--skip-preview");
    preview = (...options: string[]) => this.pulumi("preview", ...options);
    verdict = async () => (await this.pulumi("stack", "output", "verdict")).trim();

    /** Changes the program. */
    edit(change: (program: string) => string): void {
        const file = join(this.path, "index.ts");
        writeFileSync(file, change(readFileSync(file, "utf8")));
    }

    /** Compiles the program as the templates of `pulumi new` set it up, which check the types of libraries, too. */
    compile(): Promise<unknown> {
        const tsc = join(dirname(dirname(this.path)), "node_modules", ".bin", "tsc");
        const options = ["--strict", "--target", "es2020", "--module", "commonjs", "--moduleResolution", "node10"];
        return run(tsc, ["--noEmit", ...options, "index.ts"], { cwd: this.path });
    }

    move(name: string): void {
        const moved = join(dirname(this.path), name);
        renameSync(this.path, moved);
        this.path = moved;
    }

    /** Begins an update, which may be killed. */
    beginUp(): ChildProcess {
        return execFile(this.tools.pulumi, ["up", "--yes", "--skip-preview", "--stack", "dev", ...quietly], {
            cwd: this.path,
            env: this.environment(),
        });
    }

    /** Destroys the stack where there is neither the program nor any module. */
    async destroyFromElsewhere(): Promise<void> {
        const elsewhere = mkdtempSync(join(tmpdir(), "chaos-experiments-e2e-"));
        for (const file of ["Pulumi.yaml", "Pulumi.dev.yaml"]) cpSync(join(this.path, file), join(elsewhere, file));
        await new ExampleProject(elsewhere, this.tools).destroy();
        rmSync(elsewhere, { recursive: true });
    }

    /** Destroys and removes the stack, also after a failed test. */
    async destroy(): Promise<void> {
        await this.pulumi("cancel", "--yes").catch(() => undefined);
        await this.pulumi("destroy", "--yes", "--skip-preview", "--remove");
    }

    /** @returns what the Pulumi CLI printed */
    private async pulumi(...args: string[]): Promise<string> {
        const { stdout, stderr } = await run(this.tools.pulumi, [...args, ...quietly, "--stack", "dev"], {
            cwd: this.path,
            env: this.environment(),
        });
        return stdout + stderr;
    }

    private environment(): NodeJS.ProcessEnv {
        return { ...process.env, PATH: [dirname(this.tools.pulumi), process.env.PATH].join(delimiter) };
    }
}

/** The folder in `node_modules` of a version of the package. */
const moduleOf = (version: string) => `version-${version}`;

/** What the examples depend on, besides the package. */
function modulesOf(examples: readonly string[]): Record<string, string> {
    const each = examples.map((example) => {
        const manifest = readFileSync(join(repository, "examples", example, "package.json"), "utf8");
        return (JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies;
    });
    const { [packageName]: _, ...others } = Object.assign({}, ...each) as Record<string, string>;
    return others;
}
