/** What must hold before a version is released, each as a list of mistakes. */

/** The package's tarball may have so many bytes: `npm install` takes it from far away. */
export const mostTarballBytes = 450_000;

/** Upgrades are tested from so many released versions. */
const upgradedVersions = 2;

/** States of this version and later go on working. */
const oldestUpgraded = "0.5.0";

const version = /^\d+\.\d+\.\d+$/;

/** Below zero if the first is earlier. */
function compareVersions(one: string, other: string): number {
    const [a, b] = [one, other].map((text) => text.split(".").map(Number)) as [number[], number[]];
    return a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!;
}

interface Section {
    /** `Unreleased`, or a version. */
    title: string;
    entries: number;
    /** Such as `Added`. */
    headings: string[];
}

function sectionsOf(changelog: string): Section[] {
    return changelog
        .split(/^## /m)
        .slice(1)
        .map((text) => ({
            title: text.slice(0, text.indexOf("\n")).trim(),
            entries: text.match(/^- /gm)?.length ?? 0,
            headings: [...text.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading!),
        }));
}

/** The version that would be released: with changes that are not released, the next minor one. */
export function nextVersion(current: string, changelog: string): string {
    const [first] = sectionsOf(changelog);
    if (first?.title !== "Unreleased") return current;
    const [major, minor] = current.split(".");
    return `${major}.${Number(minor) + 1}.0`;
}

/** @param packages the version in each package.json, by its path, and in the lock */
export function versionMistakes(next: string, packages: Readonly<Record<string, string>>): string[] {
    const [[first, current]] = Object.entries(packages) as [[string, string]];
    return [
        ...Object.entries(packages).flatMap(([path, found]) =>
            found === current ? [] : [`${path} has ${found}, but ${first} has ${current}`],
        ),
        ...(version.test(next) ? [] : [`${next} is not a version such as 0.7.0`]),
        ...(version.test(next) && compareVersions(next, current) < 0 ? [`${next} is before ${current}`] : []),
    ];
}

/** The headings of Keep a Changelog. */
const kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/** @param current the version in each package.json */
export function changelogMistakes(next: string, current: string, changelog: string): string[] {
    const sections = sectionsOf(changelog);
    const [first] = sections;
    if (first === undefined) return ["CHANGELOG.md has no section"];
    const released = sections.map(({ title }) => title).filter((title) => title !== "Unreleased");
    return [
        ...(["Unreleased", next].includes(first.title) ? [] : [`its first section is ${first.title}, not ${next}`]),
        ...(first.title === "Unreleased" && released[0] !== undefined && released[0] !== current
            ? [`the packages have ${current}, and its last release is ${released[0]}; give Unreleased its number, too`]
            : []),
        ...(first.title === "Unreleased" && released.includes(next) ? [`${next} is released already`] : []),
        ...(first.entries > 0 ? [] : [`its section ${first.title} has no entry`]),
        ...first.headings.flatMap((heading, index) =>
            !kinds.includes(heading)
                ? [`${first.title} has the heading ${heading}; allowed: ${kinds.join(", ")}`]
                : first.headings.indexOf(heading) < index
                  ? [`${first.title} has the heading ${heading} twice`]
                  : [],
        ),
        ...released.flatMap((title, index) =>
            !version.test(title)
                ? [`the section ${title} has no version such as 0.7.0`]
                : index > 0 && compareVersions(released[index - 1]!, title) <= 0
                  ? [`${title} is below ${released[index - 1]}`]
                  : [],
        ),
    ];
}

/** What `npm pack --json` says. */
export interface Tarball {
    /** In bytes. */
    size: number;
    files: readonly { path: string }[];
}

/** Programs in TypeScript need the first ones, `pulumi package add` the next, and each run the last. */
export const neededFiles = [
    ...[
        "package.json",
        "README.md",
        "LICENSE",
        "dist/index.js",
        "dist/index.d.ts",
        "dist/cli/chaos.js",
        "dist/cli/chaos-report.js",
    ],
    ...["PulumiPlugin.yaml", "plugin.js", "schema.json", "dist/face/plugin.js"],
    // Verdicts and README name the first, other programs read the second.
    ...["dist/docs/troubleshooting.md", "dist/journal.schema.json"],
    ...["steps.js", "steps.js.br", "pods.json.br"].map((file) => `dist/programs/${file}`),
];

export function tarballMistakes({ size, files }: Tarball): string[] {
    const has = (path: string) => files.some((file) => file.path === path);
    const others = files.filter(({ path }) => !neededFiles.includes(path) && !path.startsWith("dist/"));
    return [
        ...(size > mostTarballBytes ? [`it has ${size} bytes; allowed: ${mostTarballBytes}`] : []),
        ...neededFiles.filter((path) => !has(path)).map((path) => `it lacks ${path}`),
        ...others.map(({ path }) => `it has ${path}, which no program needs`),
    ];
}

/** What the pages must name, besides the project's own version. */
export interface Tools {
    /** The lowest version of Node.js, such as 20.19. */
    node: string;
    pulumi: string;
}

/** @param pages the texts, by path */
export function pageMistakes(next: string, pages: Readonly<Record<string, string>>, tools: Tools): string[] {
    const isEqual = (wanted: string) => (found: string) => found === wanted;
    const rules: [pattern: RegExp, isRight: (found: string) => boolean, wanted: string][] = [
        [/PULUMI_VERSION: ([\d.]+\d)/g, isEqual(tools.pulumi), tools.pulumi],
        [/Node\.js (\d+\.\d+) or newer/g, isEqual(tools.node), tools.node],
        [/(?:node-version: |image: node:)(\d+)/g, isEqual(tools.node.split(".")[0]!), tools.node],
        [/pulumi-chaos-experiments[@-](\d+\.\d+\.\d+)/g, isEqual(next), next],
        // What a page says of versions is about released ones, or this one.
        [/\b[Vv]ersions? (?:up to |until |from |before )?(0\.\d+\.\d+)/g, notAfter(next), `${next} at most`],
    ];
    return Object.entries(pages).flatMap(([path, text]) =>
        rules.flatMap(([pattern, isRight, wanted]) =>
            [...text.matchAll(pattern)]
                .filter(([, found]) => !isRight(found!))
                .map(([said]) => `${path} says "${said}"; wanted: ${wanted}`),
        ),
    );
}

const notAfter = (next: string) => (found: string) => compareVersions(found, next) <= 0;

/** The released versions from which upgrades must be tested, the newest first. */
export function upgradedFrom(next: string, changelog: string): string[] {
    return sectionsOf(changelog)
        .map(({ title }) => title)
        .filter((title) => version.test(title) && compareVersions(title, next) < 0)
        .filter((title) => compareVersions(title, oldestUpgraded) >= 0)
        .slice(0, upgradedVersions);
}
