#!/usr/bin/env node
/** The command `chaos`. */
import { chaosImport } from "./import";
import { chaosReport } from "./report";

const commands: Record<string, (args: string[]) => number> = { import: chaosImport, report: chaosReport };

const [name = "", ...args] = process.argv.slice(2);
if (Object.hasOwn(commands, name)) process.exitCode = commands[name]!(args);
else {
    console.error(`Usage: chaos import [OPTIONS] FILE\n       chaos report [OPTIONS] JOURNAL_OR_FOLDER...`);
    process.exitCode = 2;
}
