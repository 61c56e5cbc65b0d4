import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { yamlProblem } from "../values/json";
import { nameSchema } from "../values/texts";
import { checkOf } from "./import/imported";
import { importExperiments, writtenAs } from "./import/convert";
import type { Remark } from "./import/fields";

const help = `Usage: chaos import [OPTIONS] FILE

Writes an experiment of Steadybit, or of Chaos Mesh (PodChaos, NetworkChaos, HTTPChaos), as the arguments of an
Experiment, in TypeScript, to standard output. Nothing is guessed: each difference between the file and the result is
reported. Reads the file only, no cluster.

  FILE               JSON or YAML: an experiment of Steadybit's API, or manifests of Chaos Mesh
  --check URL        What must answer with a status from 200 to 299 meanwhile, besides the file's checks. May be
                     repeated. A Service: http://NAME.NAMESPACE.svc:PORT/PATH
  --hypothesis TEXT  The expectation, in place of the file's
  --namespace NAME   Namespace of targets for which the file names none
  --service NAME     For an HTTPChaos: the Service through which requests come
  --help             Show this text

Exit codes: 0 written; the differences are in comments and on standard error. 1 something of an experiment cannot be
said: all of it is named, and only the file's other experiments are written. 2 wrong use.`;

const exitCodes = { written: 0, refused: 1, wrongUse: 2 };

/** The command `chaos import`. @param output where it prints to. @returns its exit code */
export function chaosImport(args: string[], output: Pick<Console, "log" | "error"> = console): number {
    const wrong = (mistakes: string) => {
        output.error(`${mistakes}\nSee: chaos import --help`);
        return exitCodes.wrongUse;
    };
    let options: ReturnType<typeof importOptions>;
    try {
        options = importOptions(args);
    } catch (error) {
        return wrong((error as Error).message);
    }
    if ("help" in options) {
        output.log(help);
        return exitCodes.written;
    }
    const { file, ...additions } = options;
    let imported;
    try {
        imported = importExperiments(readFileSync(file, "utf8"), additions);
    } catch (error) {
        return wrong(`${file} is not read: ${yamlProblem(error)}`);
    }
    const { experiments, refused } = imported;
    if (refused.length > 0) {
        const what = experiments.length === 0 ? "is not imported" : "is imported without what is refused";
        output.error(`${file} ${what}: an experiment cannot say all of it\n${listed(refused)}`);
    }
    const differences = experiments.flatMap((experiment) => experiment.differences);
    if (differences.length > 0) output.error(`What is imported differs from ${file}:\n${listed(differences)}`);
    if (experiments.length > 0) output.log(writtenAs(experiments, file).trimEnd());
    return refused.length > 0 ? exitCodes.refused : exitCodes.written;
}

const listed = (remarks: readonly Remark[]) =>
    remarks.map(({ path, reason }) => `  ${path === "" ? "" : `${path}: `}${reason}`).join("\n");

/** @throws Error with all mistakes */
function importOptions(args: string[]) {
    const { values, positionals } = parseArgs({
        args,
        allowPositionals: true,
        options: {
            check: { type: "string", multiple: true },
            hypothesis: { type: "string" },
            namespace: { type: "string" },
            service: { type: "string" },
            help: { type: "boolean", short: "h" },
        },
    });
    if (values.help) return { help: true as const };
    const { check: addresses = [], hypothesis, namespace, service } = values;
    const mistakes: string[] = [];
    const checks = addresses.flatMap((address) => {
        try {
            return checkOf(address);
        } catch (error) {
            mistakes.push(`--check ${(error as Error).message}`);
            return [];
        }
    });
    for (const [option, name] of Object.entries({ namespace, service })) {
        const { error } = nameSchema(`the name of a ${option}`).optional().safeParse(name);
        if (error) mistakes.push(`--${option}: ${error.issues[0]!.message}`);
    }
    const [file, ...others] = positionals;
    if (file === undefined || others.length > 0) mistakes.push("name exactly one file");
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    return { file: file!, checks, hypothesis, namespace, service };
}
