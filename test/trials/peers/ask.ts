import { setTimeout as sleep } from "node:timers/promises";
import type { Application, Change } from "../../../bench/peers/application";
import { runToEnd } from "../../../bench/peers/run-to-end";
import { descendantsOf } from "../../../bench/peers/memory";
import { until } from "../../support/until";
import { type Answer, type Mark, markOf } from "./answer";
import { lastedSeconds, type Question } from "./questions";
import type { Tool } from "./tools";

/** How long the attack lasts until the trouble, in milliseconds. */
const bitesMs = 5_000;
/** When it is looked after the command was killed, in minutes. */
const looksAfter = { quick: [1], whole: [1, 5] };

/** Less than the 1 s after which TCP sends again what was dropped. */
const patienceMs = 900;

export interface Seen extends Answer {
    /** For which connections from `front` to `api` failed, or some of them. */
    seconds: number;
    mark: Mark;
}

/** Asks a tool a question. @param quick looks only once after a command was killed */
export async function ask(tool: Tool, question: Question, application: Application, quick: boolean): Promise<Seen> {
    const { before, meanwhile, shape } = question;
    await application.shape({ patienceMs, ...shape });
    try {
        if (before) await application.apply(before);
        const command = await tool.prepare(question);
        const begunAt = Date.now();
        let pid = 0;
        const over = new AbortController();
        const running = runToEnd(command, (begun) => (pid = begun)).finally(() => over.abort());
        const troubled = meanwhile && untilBitten(application, begunAt, over.signal).then(() => disturb());
        const disturb = async () => {
            if (meanwhile === "kill") killAll(descendantsOf(pid));
            else if (meanwhile) await application.kubectl(...meanwhile(tool.targets));
        };
        // Without the trouble, there is nothing to be said.
        const [ended] = await Promise.all([running, troubled]).catch(async (error: Error) => {
            const { printed } = await running;
            throw new Error(`${error.message}; ${tool.name} printed:\n${printed.slice(-2_000)}`);
        });
        if (meanwhile === "kill") return await afterKill(application, begunAt, quick);
        const seconds = secondsOf(await application.changes(), begunAt, Date.now());
        if (question.endsEarly && seconds > lastedSeconds)
            throw new Error(`the attack lasted ${seconds} s although it should have been ended after 5 s`);
        const answer = await tool.answer(ended);
        return { ...answer, seconds, mark: markOf(question, seconds, answer) };
    } finally {
        // What a killed command has left must not reach into the next question, even if that cannot be undone.
        await tool.undo(question).finally(() => application.kubectl("delete", "networkpolicy", "--all"));
    }
}

/** @param signal aborts when the command has ended */
async function untilBitten(application: Application, begunAt: number, signal: AbortSignal): Promise<void> {
    await until(
        "the attack bites",
        async () => {
            if (signal.aborted) throw new Error("the command ended before its attack did anything");
            return (await application.changes()).some(({ at, works }) => at > begunAt && !works);
        },
        { timeoutMs: 600_000 },
    );
    await sleep(bitesMs, undefined, { signal });
}

/** Kills processes, of which some may have ended. */
function killAll(pids: readonly number[]): void {
    for (const pid of pids)
        try {
            process.kill(pid, "SIGKILL");
        } catch {
            // It has ended.
        }
}

/** Looks whether the pod is still cut off, until it is not. */
async function afterKill(application: Application, begunAt: number, quick: boolean): Promise<Seen> {
    const killedAt = Date.now();
    const changes = () => application.changes();
    const words: string[] = [];
    for (const minutes of quick ? looksAfter.quick : looksAfter.whole) {
        await sleep(Math.max(0, killedAt + minutes * 60_000 - Date.now()));
        const last = (await changes()).at(-1)!;
        if (last.works) {
            words.push(`reached again after ${Math.round((last.at - killedAt) / 1_000)} s`);
            break;
        }
        words.push(`cut off ${minutes} min later`);
    }
    const seconds = secondsOf(await changes(), begunAt, Date.now());
    const mark = words[0]!.startsWith("cut off") ? "wrong" : "right";
    return { said: "nothing", words: words.join(", and "), seconds, mark };
}

/** How long an attack lasted: from the first failed connection until all worked again. @param changes in their order */
export function secondsOf(changes: readonly Change[], from: number, to: number): number {
    const since = changes.filter(({ at }) => at >= from && at <= to);
    const first = since.find(({ works }) => !works);
    if (first === undefined) return 0;
    const last = since.at(-1)!;
    return ((last.works ? last.at : to) - first.at) / 1_000;
}
