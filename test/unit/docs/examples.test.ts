import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(__dirname, "..", "..", "..");
const examples = readdirSync(join(root, "examples"));
/** Programs in other languages have no package.json. */
const isNode = (example: string) => existsSync(join(root, "examples", example, "package.json"));
const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");
const { name, version } = JSON.parse(read("chaos", "package.json")) as { name: string; version: string };

/** The command of a page that installs or unpacks the package from a checkout, with what it runs to pack it. */
const install = /^ {4}((?:npm install|tar -xzf) (?:[^\n]|\\\n)*npm pack(?:[^\n]|\\\n)*)$/m;
const installIn = (page: string) => install.exec(page)?.[1];

const pages: [string, string, string][] = [
    ...examples.map((example): [string, string, string] => [
        `examples/${example}/README.md`,
        `examples/${example}`,
        "",
    ]),
    ["chaos/README.md", "chaos", root],
];

describe("a release changes no page and no example by hand:", () => {
    it.each(pages)("%s names no version of the package", (page) => {
        expect(read(page)).not.toMatch(/pulumi-chaos-experiments-\d/);
        expect(installIn(read(page))).toBeDefined();
    });

    it.each(examples.filter(isNode))("the package.json of %s names none either: installing it adds it", (example) => {
        const { dependencies } = JSON.parse(read("examples", example, "package.json")) as { dependencies: object };
        expect(Object.keys(dependencies)).not.toContain(name);
    });
});

/** Packs as the page says, and looks for what `npm install` would be given: that is installed in end-to-end tests. */
it.each(pages)(
    "what %s installs is there once it is packed as it says",
    (page, folder, checkout) => {
        const command = installIn(read(page))!.replaceAll("CHECKOUT", checkout);
        // The tarball has the same name without what the build makes.
        const npm = 'npm() { case $1 in install) echo "$2" ;; *) command npm "$@" --ignore-scripts ;; esac; }';
        const shell = `${npm}\ntar() { echo "$2"; }\n${command}`;
        const printed = execFileSync("sh", ["-c", shell], { cwd: join(root, folder), encoding: "utf8" });
        const tarball = join(checkout === "" ? join(root, folder) : "/", printed.trim());
        expect(tarball).toBe(join(root, "chaos", `${name}-${version}.tgz`));
        expect(existsSync(tarball)).toBe(true);
        rmSync(tarball);
    },
    120_000,
);
