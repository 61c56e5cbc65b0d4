#!/usr/bin/env node
/** The command `chaos`. */
import { chaosImport } from "./import";
import { chaosReport } from "./report";

type Command = (args: string[]) => number | Promise<number>;

const commands: Record<string, Command> = { import: chaosImport, report: chaosReport };

const [name = "", ...args] = process.argv.slice(2);
const command: Command = Object.hasOwn(commands, name) ? commands[name]! : usage;
void Promise.resolve(command(args)).then((code) => (process.exitCode = code));

function usage(): number {
    const isAskedFor = ["--help", "-h", "help"].includes(name);
    const text = `Usage: chaos import [OPTIONS] FILE\n       chaos report [OPTIONS] JOURNAL_OR_FOLDER...`;
    (isAskedFor ? console.log : console.error)(text);
    return isAskedFor ? 0 : 2;
}
