import type { Parsed } from "./program";

/**
 * Parses the arguments of a program that has no options but `--help`. Others are refused: an ignored `--set
 * namespace=mine` would install the shop in another namespace than its user thinks.
 */
export function noOptions(args: readonly string[]): Parsed<object> {
    if (args.includes("--help") || args.includes("-h")) return { help: true };
    if (args.length === 0) return {};
    return {
        mistake:
            `this program has no options but --help: omit ${args.join(" ")}. ` +
            "It uses the settings of Pulumi.local.yaml: npx pulumi config set KEY VALUE --stack local",
    };
}
