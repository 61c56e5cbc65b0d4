/**
 * Several programs in one bundle, of which the process's first argument names the one that it is to be. The libraries that
 * they have in common, most of each, are in the cluster and in the stack's state once, and only what the one needs is run.
 *
 * @param programs how to load each, by its name
 */
export function runNamed(programs: Record<string, () => unknown>): void {
    const [, name = "none"] = process.argv;
    const load = programs[name];
    if (!load) throw new Error(`there is no program ${name} in this bundle; there are: ${Object.keys(programs).join(", ")}`);
    load();
}
