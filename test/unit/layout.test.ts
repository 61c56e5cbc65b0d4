import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { settings } from "../../components/configuration/settings";

const project = resolve(__dirname, "..", "..");

/** Which folders the files of a folder may import from, besides their own. */
const allowed: Record<string, string[]> = {
    components: ["shared"],
    experiments: ["components", "shared"],
    shared: [],
    services: ["shared"],
    sandbox: ["shared"],
    // The stack's program itself, which they run.
    cli: ["index", "components", "experiments", "sandbox", "shared"],
    bench: ["cli", "components", "experiments", "sandbox", "shared"],
};

function sources(folder: string): string[] {
    return readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => join(project, folder, file));
}

describe("imports point one way", () => {
    it.each(Object.entries(allowed))("%s imports from itself and %j only", (folder, others) => {
        const strays = sources(folder).flatMap((file) => {
            const imported = [...readFileSync(file, "utf8").matchAll(/(?:from|import\(|require\()\s*"(\.[^"]+)"/g)].map(
                ([, path]) => resolve(dirname(file), path!),
            );
            return imported
                .map((target) => relative(project, target).split("/")[0]!)
                .filter((target) => target !== folder && !others.includes(target))
                .map((target) => `${relative(project, file)} imports from ${target}`);
        });
        expect(strays).toEqual([]);
    });

    it("the shop's programs and the sandbox's parts know nothing of Pulumi's components", () => {
        const strays = sources("services").filter((file) => /@pulumi\//.test(readFileSync(file, "utf8")));
        expect(strays).toEqual([]);
    });
});

describe("the README's table of settings", () => {
    const rows = new Map(
        readFileSync(join(project, "README.md"), "utf8")
            .split("\n")
            .map((line) => /^\| `([^`]+)` \| (.*?) \| (.*?) \|$/.exec(line))
            .filter((row) => row !== null)
            .map(([, key, standard, meaning]) => [key!, { standard: standard!, meaning: meaning! }]),
    );

    it.each(Object.entries(settings))("tells of %s as the program reads it", (key, setting) => {
        const {
            default: standard,
            describedDefault,
            meaning,
        } = setting as { default?: string; describedDefault?: string; meaning: string };
        expect(rows.get(key)).toEqual({
            standard: standard === undefined ? describedDefault : `\`${standard}\``,
            meaning,
        });
    });
});
