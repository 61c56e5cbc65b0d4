import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { yamlProblem } from "../values/json";
import { nameSchema } from "../values/texts";
import { type Additions, checkOf } from "./import/imported";
import { documentsIn, importExperiments, type Result } from "./import/convert";
import { placeholdersIn, type Remark } from "./import/fields";
import { writtenAs } from "./import/written";

const help = `Usage: chaos import [OPTIONS] FILE

Writes the experiments of Steadybit, or of Chaos Mesh (PodChaos, NetworkChaos, HTTPChaos, StressChaos, DNSChaos, also in
a Schedule or a Workflow), as the arguments of an Experiment, in TypeScript, to standard output. Each difference between
the file and the result is reported. Reads no cluster.

  FILE               JSON or YAML of one of them
  --check URL        What must answer with a status from 200 to 299 meanwhile, besides the file's checks. May be
                     repeated. A Service: http://NAME.NAMESPACE.svc:PORT/PATH
  --hypothesis TEXT  The expectation, in place of the file's
  --namespace NAME   Namespace of targets for which the file names none
  --service NAME     For an HTTPChaos, and for delays and limits of packets: the Service through which requests come
  --set NAME=VALUE   The value of a placeholder, such as [[NAME]] in a template of Steadybit. May be repeated
  --out FOLDER       Writes each experiment to FOLDER/NAME.ts, and over no file, instead of all to standard output.
                     Makes FOLDER if it is missing
  --help             Show this text

Exit codes: 0 all is written, with differences in comments and on standard error; 1 nothing; 2 wrong use; 3 a part.`;

const allWritten = 0;
const noneWritten = 1;
const wrongUse = 2;
const partWritten = 3;

/** The command `chaos import`. @param output where it prints to. @returns its exit code */
export function chaosImport(args: string[], output: Pick<Console, "log" | "error"> = console): number {
    const wrong = (mistakes: string) => {
        output.error(`${mistakes}\nSee: chaos import --help`);
        return wrongUse;
    };
    let options: ReturnType<typeof importOptions>;
    try {
        options = importOptions(args);
    } catch (error) {
        return wrong((error as Error).message);
    }
    if ("help" in options) {
        output.log(help);
        return allWritten;
    }
    const { file, out, ...additions } = options;
    let content: string;
    let documents: unknown[];
    try {
        content = readFileSync(file, "utf8");
        documents = documentsIn(content);
    } catch (error) {
        return wrong(`${file} is not read: ${yamlProblem(error)}`);
    }
    const { experiments, refused, leftOut } = importExperiments(documents, additions);
    let text = "";
    try {
        if (experiments.length > 0) text = written(experiments, file, out);
    } catch (error) {
        return wrong(`--out must be a folder, new or without these files: ${(error as Error).message}`);
    }
    if (refused.length > 0) {
        const what = experiments.length === 0 ? "is not imported" : "is imported without what is refused";
        output.error(`${file} ${what}:\n${listed(refused)}`);
    }
    const unused = unusedOf(additions, content, experiments, refused.length > 0);
    if (unused.length > 0) output.error(unused.join("\n"));
    const differences = [...leftOut, ...experiments.flatMap((experiment) => experiment.differences)];
    if (differences.length > 0) output.error(`What is imported differs from ${file}:\n${listed(differences)}`);
    if (experiments.length > 0) output.log(text);
    if (refused.length === 0) return allWritten;
    return experiments.length > 0 ? partWritten : noneWritten;
}

/**
 * @param file its text
 * @param isPart whether others, which are refused, may need a namespace or a Service
 * @returns a line for each option without effect
 */
function unusedOf(
    { namespace, service, set }: Additions,
    file: string,
    experiments: Result["experiments"],
    isPart: boolean,
): string[] {
    const placeholders = placeholdersIn(file);
    const has = (text: string) => isPart || JSON.stringify(experiments.map(({ args }) => args)).includes(text);
    const names = [`k8s.namespace=${namespace}`, `"namespace":"${namespace}"`];
    return [
        ...Object.keys(set ?? {})
            .filter((name) => !placeholders.has(name))
            .map((name) => `--set ${name} has no effect: the file has no such placeholder`),
        ...(namespace === undefined || names.some(has)
            ? []
            : [`--namespace ${namespace} has no effect: the file names its namespaces`]),
        ...(service === undefined || has(`"kind":"fault","service":"${service}"`)
            ? []
            : [`--service ${service} has no effect: no fault is written`]),
    ];
}

/** @returns what is printed. @throws Error with files that are there already, before any is written */
function written(experiments: Result["experiments"], file: string, folder: string | undefined): string {
    if (folder === undefined) return writtenAs(experiments, file).trimEnd();
    const files = experiments.map((one) => ({ path: join(folder, `${one.name}.ts`), text: writtenAs([one], file) }));
    const there = files.filter(({ path }) => existsSync(path)).map(({ path }) => path);
    if (there.length > 0) throw new Error(there.join(", "));
    mkdirSync(folder, { recursive: true });
    for (const { path, text } of files) writeFileSync(path, text);
    return files.map(({ path }) => path).join("\n");
}

/** What is said of several experiments is listed once. */
const listed = (remarks: readonly Remark[]) =>
    [...new Set(remarks.map(({ path, reason }) => `  ${path === "" ? "" : `${path}: `}${reason}`))].join("\n");

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
            set: { type: "string", multiple: true },
            out: { type: "string" },
            help: { type: "boolean", short: "h" },
        },
    });
    if (values.help) return { help: true as const };
    const { check: addresses = [], set: settings = [], hypothesis, namespace, service, out } = values;
    const mistakes: string[] = [];
    const checks = addresses.flatMap((address) => {
        try {
            return checkOf(address);
        } catch (error) {
            mistakes.push(`--check ${(error as Error).message}`);
            return [];
        }
    });
    const isSetting = (text: string) => /^[\w.-]+=/.test(text);
    // A value may be a secret.
    if (!settings.every(isSetting)) mistakes.push("--set is not NAME=VALUE, such as --set deployment=orders");
    const given = settings.map((text) => text.split("=", 1)[0]!);
    for (const name of new Set(given.filter((one, index) => isSetting(settings[index]!) && given.indexOf(one) < index)))
        mistakes.push(`--set ${name} is there twice`);
    const set = Object.fromEntries(settings.map((text, index) => [given[index]!, text.slice(text.indexOf("=") + 1)]));
    for (const [option, name] of Object.entries({ namespace, service })) {
        const { error } = nameSchema(`the name of a ${option}`).optional().safeParse(name);
        if (error) mistakes.push(`--${option}: ${error.issues[0]!.message}`);
    }
    const [file, ...others] = positionals;
    if (file === undefined || others.length > 0) mistakes.push("name exactly one file");
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    return { file: file!, checks, hypothesis, namespace, service, set, out };
}
