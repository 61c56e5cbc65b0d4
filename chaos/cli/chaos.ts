#!/usr/bin/env node
/** The command `chaos`. */
import { chaosImport } from "./import";
import { chaosReport } from "./report";

type Command = (args: string[]) => number | Promise<number>;

const commands: Record<string, Command> = {
    import: chaosImport,
    // Pulumi's SDK takes longer to load than all else.
    repeat: async (args) => (await import("./repeat.js")).chaosRepeat(args),
    report: chaosReport,
};

const [name = "", ...args] = process.argv.slice(2);
const command: Command = Object.hasOwn(commands, name) ? commands[name]! : usage;
void Promise.resolve(command(args)).then((code) => (process.exitCode = code));

function usage(): number {
    const isAskedFor = ["--help", "-h", "help"].includes(name);
    const usages = [
        "chaos import [OPTIONS] FILE",
        "chaos repeat EXPERIMENT --times NUMBER [OPTIONS]",
        "chaos report [OPTIONS] JOURNAL_OR_FOLDER...",
    ];
    const text = `Usage: ${usages.join("\n       ")}`;
    (isAskedFor ? console.log : console.error)(text);
    return isAskedFor ? 0 : 2;
}
