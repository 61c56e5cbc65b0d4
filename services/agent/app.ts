import { createHash, timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import type { Context, Hono } from "hono";
import { agentKeyHeader, targetsPath } from "../../shared/agent";
import { createApplication } from "../shared/application";
import type { Log } from "../shared/log";
import { plainProblem, problemResponse, problemType } from "../shared/problem";
import type { Discovery } from "./discovery";

export interface AgentArgs {
    discovery: Pick<Discovery, "list" | "view">;
    /** What callers have to show. */
    key: string;
    log: Log;
}

/** Longer than any watch lasts; the API server confirms the view about once a minute. In milliseconds. */
const oldestViewMs = 360_000;

/**
 * The agent: `GET /targets` lists the containers of its node to callers that show the key, as `Authorization: Bearer`
 * or in `X-Agent-Key`. It is ready once it has listed its node, and its health says how much it knows and how old that
 * is.
 */
export function createAgent({ discovery, key, log }: AgentArgs): Hono {
    const application = createApplication(log);
    const isKey = comparison(key);

    application.get("/health/liveness", (context) => context.json({ status: "UP", ...discovery.view() }));
    application.get("/health/readiness", (context) => {
        const view = discovery.view();
        if (view && view.ageMs <= oldestViewMs) return context.json({ status: "UP", ...view });
        const detail = view
            ? `The view of this node is ${view.ageMs} ms old.`
            : "This node's pods were not listed yet.";
        return problemResponse({ type: problemType("not-ready"), title: "Not ready", status: 503, detail });
    });

    application.get(targetsPath, (context) => {
        const shown = shownKey(context);
        if (shown === undefined || !isKey(shown)) {
            const detail =
                shown === undefined ? "No agent key was shown." : "The agent key that was shown is not this agent's.";
            return problemResponse(plainProblem(401, "Unauthorized", detail), { "WWW-Authenticate": "Bearer" });
        }
        if (discovery.view() === undefined) {
            return problemResponse({
                type: problemType("not-ready"),
                title: "Not ready",
                status: 503,
                detail: "This node's pods were not listed yet.",
            });
        }
        // In pieces: thousands of containers as one text would be most of what the agent has in memory.
        return context.body(
            Readable.toWeb(Readable.from(asJson(discovery), { objectMode: false })) as ReadableStream,
            200,
            { "Content-Type": "application/json", "Cache-Control": "no-store" },
        );
    });
    return application;
}

function* asJson(discovery: AgentArgs["discovery"]): Generator<string> {
    let separator = '{"targets":[';
    for (const container of discovery.list()) {
        yield separator + JSON.stringify(container);
        separator = ",";
    }
    yield separator === "," ? "]}" : `${separator}]}`;
}

function shownKey({ req }: Context): string | undefined {
    return /^Bearer +(.+)$/i.exec(req.header("authorization") ?? "")?.[1] ?? req.header(agentKeyHeader);
}

/** Compares in a time that tells nothing of the key, its length included: hashes are all of one length. */
function comparison(key: string): (shown: string) => boolean {
    const digest = (text: string) => createHash("sha256").update(text).digest();
    const expected = digest(key);
    return (shown) => timingSafeEqual(digest(shown), expected);
}
