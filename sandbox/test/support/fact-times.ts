/** What takes time to see: how soon a policy holds, and what becomes of connections that were open before it. */
import { setTimeout as sleep } from "node:timers/promises";
import { apply, kubectl } from "../e2e/support";
import { addressOf, attempt, connections, namespace, type Policy, run, under } from "./fact-pods";

/** The time in which kubectl starts a program in a pod. */
const startedMs = 3_000;
/** How long each state of the policy is watched. */
const steadyMs = 3_000;
const deny = (on: string): Policy => ({ on, ways: ["Ingress"] });

/** How many milliseconds after kubectl has returned a policy denies, and no longer denies, fresh connections. */
export async function delays(): Promise<{ begins: number; ends: number }> {
    const lastsMs = 13_000;
    // A new attempt every 20 ms, also while others wait.
    const program = `${attempt}
        (async () => {
            const tries = [];
            for (const end = Date.now() + ${lastsMs}; Date.now() < end; await pause(20)) {
                const at = Date.now();
                tries.push(attempt("${await addressOf("target")}:8080", 800).then((seen) => [at, seen === "allowed"]));
            }
            console.log(JSON.stringify(await Promise.all(tries)));
        })();`;
    const watched = run("client", program);
    await sleep(startedMs);
    const appliedAt = await policyIs("applied");
    await sleep(steadyMs + 500);
    const deletedAt = await policyIs("deleted");
    const tries = JSON.parse(await watched) as [at: number, open: boolean][];
    return { begins: firstAfter(tries, appliedAt, false), ends: firstAfter(tries, deletedAt, true) };
}

/** How many milliseconds after kubectl has returned a pod's new label has a policy deny it fresh connections. */
export async function labelDelay(): Promise<number> {
    const giveUpMs = 90_000;
    const program = `${attempt}
        (async () => {
            let [inRow, since] = [0, 0];
            for (const end = Date.now() + ${giveUpMs}; inRow < 5 && Date.now() < end; await pause(20)) {
                const at = Date.now();
                const open = (await attempt("${await addressOf("stranger")}:8080", 400)) === "allowed";
                if (!open && inRow === 0) since = at;
                inRow = open ? 0 : inRow + 1;
            }
            console.log(inRow < 5 ? "none" : since);
        })();`;
    await policyIs("applied", { timed: "label" });
    try {
        const denied = run("client", program);
        await sleep(startedMs);
        await kubectl(["-n", namespace, "label", "pod", "stranger", "timed=label"]);
        const labelledAt = Date.now();
        const seen = await denied;
        if (!/^\d+$/.test(seen)) throw new Error(`the label changed nothing within ${giveUpMs} ms: ${seen}`);
        return Math.max(0, Number(seen) - labelledAt);
    } finally {
        await kubectl(["-n", namespace, "label", "pod", "stranger", "timed-"]);
        await policyIs("deleted");
    }
}

/** @returns when kubectl had returned */
async function policyIs(state: "applied" | "deleted", matchLabels: object = { app: "target" }): Promise<number> {
    const metadata = { name: "timed" };
    const spec = { podSelector: { matchLabels }, policyTypes: ["Ingress"] };
    const policy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec };
    if (state === "applied") await apply(namespace, policy);
    else await kubectl(["-n", namespace, "delete", "networkpolicy", "timed"]);
    return Date.now();
}

/** Until ten attempts in a row have the wanted outcome. It may hold before kubectl returns. */
function firstAfter(tries: readonly [at: number, open: boolean][], sinceMs: number, wanted: boolean): number {
    const later = tries.filter(([at]) => at >= sinceMs && at < sinceMs + steadyMs);
    const first = later.findIndex((_, index) => {
        const row = later.slice(index, index + 10);
        return row.length === 10 && row.every(([, open]) => open === wanted);
    });
    if (first === -1) throw new Error(`the policy changed nothing within ${steadyMs} ms`);
    return first === 0 ? 0 : later[first]![0] - sinceMs;
}

/** What becomes of an open connection when a policy denies what it is: `cut` or `survives`. */
export async function established(): Promise<{ ingress: string; egress: string }> {
    const [target, client] = await Promise.all(["target", "client"].map(addressOf));
    const [into, out] = [echoed("client", `${target}:8080`), echoed("stranger", `${client}:8080`)];
    await sleep(startedMs);
    return under([deny("target"), { on: "stranger", ways: ["Egress"] }], async () => {
        const [ingress, egress] = await Promise.all([into, out]);
        const fresh = [
            ...(await connections("client", `${target}:8080`)),
            ...(await connections("stranger", `${client}:8080`)),
        ];
        if (fresh.includes("allowed")) throw new Error(`fresh connections: ${fresh.join(", ")}`);
        return { ingress, egress };
    });
}

/** Keeps a connection open for 12 s, and writes to it. */
const echoed = (from: string, to: string): Promise<string> =>
    run(
        from,
        `const [host, port] = "${to}".split(":");
        const socket = require("net").connect({ host, port: Number(port) });
        let lastAt = 0;
        socket.on("data", () => (lastAt = Date.now())).on("error", () => 0);
        const writing = setInterval(() => socket.write("."), 100);
        setTimeout(() => {
            clearInterval(writing);
            socket.destroy();
            console.log(lastAt > Date.now() - 1_000 ? "survives" : "cut");
        }, 12_000);`,
    );
