import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, Hono } from "hono";
import { agentKeyHeader, targetsPath } from "../../chaos/targets/containers";
import { createApplication } from "../shared/application";
import type { Log } from "../shared/log";
import { notReady, plainProblem, problemResponse } from "../shared/problem";
import type { Discovery } from "./discovery";

export interface AgentArgs {
    discovery: Pick<Discovery, "list" | "view">;
    /** The key that callers must send. */
    key: string;
    log: Log;
}

/** Maximum age of the view, in milliseconds: longer than a watch. The API server confirms it about once a minute. */
const oldestViewMs = 360_000;

/**
 * The agent. `GET /targets` lists the containers of its node to callers that send the key as `Authorization: Bearer` or
 * `X-Agent-Key`. The agent is ready once it has listed its node. Its health shows how many containers it knows, and how
 * old that view is.
 */
export function createAgent({ discovery, key, log }: AgentArgs): Hono {
    const application = createApplication(log);
    const isKey = comparison(key);

    application.get("/health/liveness", (context) => context.json({ status: "UP", ...discovery.view() }));
    application.get("/health/readiness", (context) => {
        const view = discovery.view();
        if (view && view.ageMs <= oldestViewMs) return context.json({ status: "UP", ...view });
        return view ? notReady(`The view of this node is ${view.ageMs} ms old.`) : notListed();
    });

    application.get(targetsPath, (context) => {
        const sent = keyOf(context);
        if (sent === undefined || !isKey(sent)) {
            const detail = sent === undefined ? "The agent key is missing." : "The agent key is wrong.";
            return problemResponse(plainProblem(401, detail), { "WWW-Authenticate": "Bearer" });
        }
        if (discovery.view() === undefined) return notListed();
        return context.json({ targets: [...discovery.list()] }, 200, { "Cache-Control": "no-store" });
    });
    return application;
}

const notListed = () => notReady("The pods of this node have not been listed yet.");

function keyOf({ req }: Context): string | undefined {
    return /^Bearer +(.+)$/i.exec(req.header("authorization") ?? "")?.[1] ?? req.header(agentKeyHeader);
}

/** Compares in constant time. Hashes hide the key's length as well. */
function comparison(key: string): (sent: string) => boolean {
    const digest = (text: string) => createHash("sha256").update(text).digest();
    const expected = digest(key);
    return (sent) => timingSafeEqual(digest(sent), expected);
}
