import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

/** No request is answered, and nothing is open that Node.js would wait for. */
const unanswered = `
    import http from "node:http";
    import { syncBuiltinESMExports } from "node:module";
    import { PassThrough } from "node:stream";
    http.request = () => Object.assign(new PassThrough(), { setTimeout() {}, abort() {}, setHeader() {} });
    syncBuiltinESMExports();`;
const kubeconfig = {
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server: "http://127.0.0.1:1" } }],
    users: [{ name: "a", user: {} }],
};
const plan = {
    ...{ experiment: "orders", run: "1", context: "a", namespace: "demo", defaultNamespace: "demo", reports: "/tmp" },
    ...{ attacks: [], checks: [], actions: [], window: { graceMs: 0, durationMs: 1_000 }, deadlineMs: 60_000 },
};
const given = {
    steadyState: { runName: "run", pass: "pass", latencyMs: 1, checks: [] },
    targets: { attacks: [], baselineMs: 0 },
    deadlineJob: "job",
};

const run = (step: string) =>
    spawnSync(
        process.execPath,
        [
            ...["--import", `data:text/javascript,${encodeURIComponent(unanswered)}`, "--import", "tsx"],
            ...[join(__dirname, "../../../../chaos/run/steps-program.ts"), step],
        ],
        {
            encoding: "utf8",
            env: {
                PATH: process.env.PATH,
                EXPERIMENT_INPUT: JSON.stringify({ plan, stack: "local/1", ...given }),
                EXPERIMENT_KUBECONFIG: JSON.stringify(kubeconfig),
            },
        },
    );

it.each(["steady-state", "label-targets", "check", "recovery", "end-attacks"])(
    "the step %s fails, and says so, if what it waits for never comes",
    (step) => {
        const { status, stdout, stderr } = run(step);
        expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
        expect(stderr).toMatch(/^the program ended without a result: /m);
    },
    60_000,
);
