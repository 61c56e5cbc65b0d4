import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { documentsIn, importExperiments } from "../../../../../chaos/cli/import/convert";
import { type Additions, checkOf } from "../../../../../chaos/cli/import/imported";
import type { Imported } from "../../../../../chaos/cli/import/written";

export const files = join(__dirname, "files");
export const read = (file: string) => readFileSync(join(files, file), "utf8");

/** What a person adds to a file of Chaos Mesh. */
export const added: Additions = {
    hypothesis: "The shop answers meanwhile.",
    checks: [checkOf("http://shop.front.svc/health")],
};
export const fromFile: Additions = { checks: [] };

export function imported(text: string, additions = fromFile): Imported[] {
    const { experiments, refused } = importExperiments(documentsIn(text), additions);
    if (refused.length > 0) throw new Error(JSON.stringify(refused, null, 2));
    return experiments;
}

/** What is refused, as `path: reason`. */
export function refusedOf(text: string, additions = fromFile): string[] {
    return importExperiments(documentsIn(text), additions).refused.map(({ path, reason }) => `${path}: ${reason}`);
}

export const differences = ({ differences }: Imported) => differences.map(({ path }) => path);

/** What is said of a place in a file. */
export const noted = ({ differences }: Imported, at: string) =>
    differences.flatMap(({ path, reason }) => (path === at ? [reason] : [])).join("\n");

/** A file with one place of its text changed. */
export function edited(file: string, before: string | RegExp, after: string): string {
    const text = read(file);
    const changed = text.replace(before, () => after);
    expect(changed, `${file} has ${before}`).not.toBe(text);
    return changed;
}

type Refusal = [before: string | RegExp, after: string, path: string, reason: string];

/** Changes one place of a file in each of these ways: what stands at the path is refused for the reason. */
export function refuses(file: string, additions: Additions, cases: readonly Refusal[]): void {
    for (const [before, after, path, reason] of cases) {
        const refused = refusedOf(edited(file, before, after), additions);
        const ofPath = refused.filter((each) => each.startsWith(`${path}: `));
        expect(ofPath.join("\n"), `${file}: ${after}`).toContain(reason);
    }
}

/** A partition from these instead of pods. */
export function external(targets: readonly string[], direction: string): string {
    const text = edited("primary-partition.yaml", /  target:\n(    .*\n)+/, "");
    return text.replace("direction: both", `${direction}\n  externalTargets: ${JSON.stringify(targets)}`);
}

/** A manifest of Chaos Mesh, in the namespace shop. */
export const chaos = (kind: string, spec: object, metadata: object = {}) =>
    JSON.stringify({
        apiVersion: "chaos-mesh.org/v1alpha1",
        kind,
        metadata: { name: "one", namespace: "shop", ...metadata },
        spec,
    });

/** All pods of the namespace for 10 s. */
export const everyPod = { mode: "all", selector: {}, duration: "10s" };

/** Of a text with one experiment, what it became. */
export function only(text: string, additions: Additions = added): Imported {
    const all = imported(text, additions);
    expect(all).toHaveLength(1);
    return all[0]!;
}
