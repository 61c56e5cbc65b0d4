/** `npm run release -- --dry-run`: whether the next version could be released. It publishes nothing. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PULUMI_CLI_VERSION } from "../toolchain/pulumi/versions";
import { say } from "./print";
import { releaseProgram } from "./programs";
import {
    changelogMistakes,
    mostTarballBytes,
    nextVersion,
    pageMistakes,
    type Tarball,
    tarballMistakes,
    upgradedFrom,
    versionMistakes,
} from "./release-checks";
import { project } from "./stack-file";

interface ReleaseOptions {
    dryRun?: boolean;
    upgrade: boolean;
}

const textOf = (...path: string[]) => readFileSync(join(project, ...path), "utf8");
const jsonOf = <T>(path: string) => JSON.parse(textOf(path)) as T;

/** Of the repository, of each part, of the lock, and of the plugin. */
function packageVersions(): Record<string, string> {
    const { workspaces } = jsonOf<{ workspaces: string[] }>("package.json");
    const paths = [
        "package.json",
        ...workspaces.map((part) => `${part}/package.json`),
        "package-lock.json",
        "chaos/schema.json",
    ];
    const { packages } = jsonOf<{ packages: Record<string, { version: string }> }>("package-lock.json");
    return Object.fromEntries([
        ...paths.map((path) => [path, jsonOf<{ version: string }>(path).version]),
        ...["", ...workspaces].map((part) => [`package-lock.json, ${part || "."}`, packages[part]!.version]),
    ]) as Record<string, string>;
}

/** All pages, but not the changelog, which is about earlier versions too; and what CI of GitHub and GitLab runs. */
function pages(): Record<string, string> {
    const patterns = ["*.md", ".github/workflows/*.yml", ".gitlab-ci.yml"];
    const listed = execFileSync("git", ["ls-files", ...patterns], { cwd: project, encoding: "utf8" })
        .trim()
        .split("\n");
    const paths = listed.filter((path) => path !== "CHANGELOG.md");
    return Object.fromEntries(paths.map((path) => [path, textOf(path)]));
}

const lowestNode = () => jsonOf<{ engines: { node: string } }>("package.json").engines.node.replace(">=", "");

/** Builds the package, and what npm would publish of it. */
function packed(): Tarball {
    const options = { cwd: join(project, "chaos"), encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
    const printed = execFileSync("npm", ["pack", "--dry-run", "--json", "--silent"], options);
    return (JSON.parse(printed.slice(printed.indexOf("[\n"))) as [Tarball])[0];
}

const earlier = ["test", "e2e", "experiments", "earlier"];
const tarballOf = (version: string) => join(...earlier, `pulumi-chaos-experiments-${version}.tgz`);

/** Runs the tests of an upgrade, which need the sandbox. */
function upgradeMistakes(): string[] {
    const file = join(...earlier, "..", "package.test.ts");
    const env = { ...process.env, TEST_ALL: "true" };
    const { status } = spawnSync("npx", ["vitest", "run", "--project", "e2e", file], {
        cwd: project,
        env,
        stdio: "inherit",
    });
    return status === 0 ? [] : [`${file} failed`];
}

/** Prints the result of a check. @returns whether it passed */
function report(what: string, mistakes: readonly string[]): boolean {
    say(`${mistakes.length === 0 ? "passed" : "FAILED"}  ${what}`);
    for (const mistake of mistakes) say(`        ${mistake}`);
    return mistakes.length === 0;
}

async function main({ upgrade }: ReleaseOptions): Promise<void> {
    const [changelog, packages] = [textOf("CHANGELOG.md"), packageVersions()];
    const next = nextVersion(packages["package.json"]!, changelog);
    const from = upgradedFrom(next, changelog);
    const missing = from.filter((version) => !existsSync(join(project, tarballOf(version))));
    const tools = { node: lowestNode(), pulumi: PULUMI_CLI_VERSION };
    const results = [
        report(`version ${next}, after ${packages["package.json"]}`, versionMistakes(next, packages)),
        report("CHANGELOG.md", changelogMistakes(next, packages["package.json"]!, changelog)),
        report("versions in pages", pageMistakes(next, pages(), tools)),
    ];
    const tarball = packed();
    const size = `${Math.ceil(tarball.size / 1_000)} kB, at most ${mostTarballBytes / 1_000} kB`;
    results.push(report(`tarball: ${size}`, tarballMistakes(tarball)));
    results.push(
        report(
            `tarballs of ${from.join(" and ")}, to upgrade from`,
            missing.map((version) => `there is no ${tarballOf(version)}`),
        ),
    );
    if (upgrade) results.push(report("upgrades", upgradeMistakes()));
    else say("left out  upgrades");
    const isReady = results.every(Boolean);
    say(isReady ? "\nNothing was published." : "\nNot ready. Nothing was published.");
    if (!isReady) process.exitCode = 1;
}

releaseProgram.run((args) => {
    const options = releaseProgram.read<ReleaseOptions>(args);
    if (!options.dryRun)
        throw new Error("this program publishes nothing: add --dry-run. To publish, see chaos/CONTRIBUTING.md");
    return options;
}, main);
