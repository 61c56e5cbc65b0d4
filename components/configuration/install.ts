import { manifestMistakes, valuesFileMistakes } from "./files";
import { type Mistake, setCommand } from "./mistakes";
import type { Key, ReadAs } from "./settings";

/** What a chart or a manifest says for itself. */
const ofProgramOnly =
    /^(?:replicas\..*|images\.(?:postgres|nats)|(?:database|broker|storage|shutdown)\..*|gateway\.serviceType)$/;
/** A chart is told of it by its values. */
const notOfManifest = /^ingress\./;

/**
 * What is wrong with the settings of how the shop is installed.
 *
 * @param get what a key was read as; undefined where it is not set, or wrong by itself
 * @param own what the stack sets itself
 */
export function installMistakes(
    get: <K extends Key>(key: K) => ReadAs<K> | undefined,
    own: ReadonlyMap<string, string>,
): Mistake[] {
    const install = get("install");
    if (install === undefined || install === "program") return [];
    const mistakes: Mistake[] = [];
    for (const [key, value] of own) {
        if (!ofProgramOnly.test(key) && !(install === "manifest" && notOfManifest.test(key))) continue;
        const where = install === "chart" ? "the chart's values say that (chart.values)" : "the manifest says that";
        mistakes.push({
            key,
            value,
            reason: `install is ${install}: ${where}; allowed: only where install is program`,
            command: `pulumi config rm ${key}`,
        });
    }
    const [manifest, values] = [get("manifest"), get("chart.values")];
    if (install === "chart" && values !== undefined) mistakes.push(...valuesFileMistakes("chart.values", values));
    if (install === "manifest" && manifest === undefined) {
        mistakes.push({
            key: "manifest",
            reason: "install is manifest; allowed: the path or URL of one",
            command: setCommand("manifest", "shop.yaml"),
        });
    }
    if (install === "manifest" && manifest !== undefined) mistakes.push(...manifestMistakes("manifest", manifest));
    return mistakes;
}
