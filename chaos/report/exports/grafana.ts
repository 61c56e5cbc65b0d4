import { parseJson } from "../../values/json";
import { verdictLine } from "../../values/reasons";
import { excerpt } from "../../kinds/checks/values";
import type { Journal } from "../journal-schema";
import { escape } from "../markup";
import { type Receiver, RefusedError, unsent } from "./receiver";
import { attackedTime, traceIdOf } from "./trace";

export const tokenVariable = "GRAFANA_TOKEN";

/** A receiver of OTLP has as much time. */
const answerTimeoutMs = 10_000;

/** What is wrong with the token, which is never printed. */
export function mistakeInToken(token = ""): string | undefined {
    const remedy = `set ${tokenVariable} to the token of a service account that may write annotations`;
    if (token === "") return `the token is missing: ${remedy}`;
    return /^[\x21-\x7e]+$/.test(token) ? undefined : `the token has a space, or what no header may have: ${remedy}`;
}

/**
 * Writes an annotation for the attacked time of each run, or corrects the one that is there, since a run may be undone
 * after it was first sent. Dashboards show them by an annotation query with the tag `chaos`.
 *
 * @param base Grafana's URL, with its path if it has one
 * @see https://grafana.com/docs/grafana/latest/developer-resources/api-reference/http-api/annotations/
 * @returns how many runs attacked something, and so have an annotation
 * @throws Error that says why Grafana did not accept one; the rest is not sent then
 */
export async function annotate(base: string, token: string, journals: readonly Journal[]): Promise<number> {
    const url = base.replace(/\/$/, "");
    const receiver: Receiver = {
        what: "the annotations",
        url,
        credentials: `${tokenVariable} to the token of a service account with the role Editor`,
    };
    const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
        const request = async () => {
            const response = await fetch(`${url}/api/annotations${path}`, {
                method,
                headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
                body: body && JSON.stringify(body),
                // A redirect to a page for logging in is no success.
                redirect: "manual",
                signal: AbortSignal.timeout(answerTimeoutMs),
            });
            return { status: response.status, ok: response.ok, answer: parseJson(await response.text()) };
        };
        const { status, ok, answer } = await request().catch((error: unknown) => {
            throw unsent(receiver, error);
        });
        if (!ok) {
            const { message } = (answer ?? {}) as { message?: unknown };
            const detail = typeof message === "string" ? excerpt(message.replaceAll(token, "***")) : undefined;
            throw unsent(receiver, new RefusedError(status, detail));
        }
        // Grafana answers with a list of annotations, or with what it has done.
        if (method === "GET" ? !Array.isArray(answer) : answer === undefined)
            throw unsent(receiver, new Error("what answers there is not Grafana. Correct the URL"));
        return answer;
    };
    const attacked = journals.flatMap((journal) => annotationOf(journal) ?? []);
    for (const { tag, annotation } of attacked) {
        const found = (await ask("GET", `?type=annotation&tags=${encodeURIComponent(tag)}`)) as Found[];
        const own = found.find(({ id, tags }) => Number.isInteger(id) && isOfRun(tags, annotation.tags));
        if (own) await ask("PATCH", `/${own.id}`, annotation);
        else await ask("POST", "", annotation);
    }
    return attacked.length;
}

interface Found {
    id: number;
    tags?: string[];
}

/**
 * Whether an annotation has all tags of a run except the verdict's, which may change. Another one may quote the trace.
 */
const isOfRun = (tags: readonly string[] = [], own: readonly string[]) =>
    own.every((tag) => tag.startsWith("verdict:") || tags.includes(tag));

/** Grafana shows the text as HTML. */

/** Undefined if the run attacked nothing. `tag` is unique. */
function annotationOf(journal: Journal) {
    const time = attackedTime(journal);
    if (time === undefined) return undefined;
    const { name, verdict, targets } = journal.conclusion;
    // The trace's ID leads to the trace if that is sent, too. Grafana keeps at most 100 characters.
    const tag = `trace_id:${traceIdOf(journal)}`;
    const text = escape(`${name}: ${verdictLine(journal.conclusion)}\nTargets: ${targets.join(", ")}`);
    const tags = ["chaos", `experiment:${name}`, `verdict:${verdict}`, tag];
    return { tag, annotation: { time: time.from, timeEnd: time.to, tags, text } };
}
