import { benchProgram } from "../cli/programs";

export type BenchOptions = ReturnType<typeof benchOptions>;

/**
 * Reads the arguments of `npm run bench`.
 *
 * @param known names of all figures, in the order of measuring
 * @throws Error with what is wrong
 */
export function benchOptions(args: string[], known: readonly string[]) {
    const { json = false } = benchProgram.read<{ json?: true }>(args);
    const given = benchProgram.args;
    const unknown = given.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`no figure is named ${unknown.join(", ")}; allowed: ${known.join(", ")}`);
    return { json, names: known.filter((name) => given.length === 0 || given.includes(name)) };
}
