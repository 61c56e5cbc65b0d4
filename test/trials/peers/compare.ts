import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Application } from "../../../bench/peers/application";
import { chaosToolkit } from "../../../bench/peers/chaos-toolkit";
import { interrupted, Session } from "../../../bench/session";
import { plainError } from "../../../chaos/cli/plain-error";
import { project } from "../../../cli/stack-file";
import { reportsFolder } from "../../../experiments/reports-folder";
import { choices } from "../../../sandbox/node/choices";
import { describePlace, placeNow } from "../place";
import { commitOf } from "../results";
import { ask } from "./ask";
import { type Question, questions } from "./questions";
import { describeAsked, describePeerResult, type PeerResult, peersTable, withPeersTable } from "./results";
import { chaosToolkitTool, ours, type Tool } from "./tools";

/** It is deleted with everything in it. */
const namespace = "trials-peers";
const file = join(project, reportsFolder, "trials-peers.jsonl");
const page = join(project, "docs", "comparison.md");

export interface PeerOptions {
    /** Looks only 1 minute after a command was killed, and not also 5 minutes. */
    quick: boolean;
    /** Writes the table into its page. */
    write: boolean;
}

/** Asks Chaos Toolkit and this project the same questions, in turns, on the sandbox as it is, and prints the table. */
export async function comparePeers(names: readonly string[], { quick, write }: PeerOptions): Promise<void> {
    const session = await Session.open((line) => console.log(line), [namespace]);
    console.log(`on ${describePlace(placeNow())}, which ${choices().denied}s what a NetworkPolicy denies`);
    const asked = questions.filter(({ name }) => names.includes(name));
    const results: PeerResult[] = [];
    try {
        await Promise.race([askAll(session, asked, quick, (result) => results.push(result)), interrupted()]);
    } finally {
        await session.close();
    }
    const all = readAll();
    if (all.length === 0) return;
    const table = `${peersTable(questions, all)}\n${describeAsked(questions, all)}`;
    console.log(`\n${table}`);
    if (write) writeFileSync(page, withPeersTable(readFileSync(page, "utf8"), table));
    if (results.some(({ tool, mark }) => tool === "this project" && mark === "wrong")) process.exitCode = 1;
}

async function askAll(
    session: Session,
    asked: readonly Question[],
    quick: boolean,
    onResult: (result: PeerResult) => void,
): Promise<void> {
    const { cluster, context, say } = session;
    const commit = commitOf(project);
    const application = await Application.install(cluster, context, namespace);
    const tools = await toolsOf(session, application);
    for (const question of asked)
        for (const tool of tools.filter(({ mayDiffer }) => mayDiffer?.(question) ?? true)) {
            const seen = await ask(tool, question, application, quick).catch((error: unknown) => {
                say(`not asked ${question.name} of ${tool.name}: ${plainError(error)}`);
                process.exitCode = 1;
            });
            if (seen === undefined) continue;
            const at = new Date().toISOString();
            const result = { question: question.name, tool: tool.name, ...seen, commit, at };
            append(result);
            onResult(result);
            say(describePeerResult(result));
        }
}

async function toolsOf(session: Session, application: Application): Promise<Tool[]> {
    const chaos = await chaosToolkit(session.say);
    const theirs = chaos === undefined ? [] : [false, true].map((counts) => [chaos, counts] as const);
    return [
        ...theirs.map(([chaos, counts]) => chaosToolkitTool(chaos, session, application, counts)),
        await ours(session, application),
    ];
}

function append(result: PeerResult): void {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `${JSON.stringify(result)}\n`);
}

function readAll(): PeerResult[] {
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as PeerResult);
}
