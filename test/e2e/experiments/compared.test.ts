import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/on-cluster";
import { plainError } from "../../../chaos/cli/plain-error";
import { Experiment } from "../../../chaos/face/experiment";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { isReady } from "../../../chaos/targets/containers";
import { nodePod } from "../../../sandbox/test/e2e/support";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";
import { itInAll } from "../which-tests";

const namespace = "e2e-compared";
const api = "api";

/**
 * Answers at once, but for some requests, by their number: of these are the 95th percentiles, so that what else slows
 * the machine down at times is not what is compared.
 */
const answering = `
const isSlow = {
    // Evenly, and more than 5%: the same before the attack and under it.
    "/": (number) => number % 10 === 0 && 500,
    // A little more than 5%: by chance, the percentile is one of these or not.
    "/uneven": (number) => number % 17 === 0 && 4_000,
    // More than 5%, and all in one part of the baseline.
    "/unsteady": (number) => number > 30 && number <= 54 && 4_000,
};
const asked = {};
require("node:http")
    .createServer(({ url }, response) => {
        asked[url] = (asked[url] ?? 0) + 1;
        setTimeout(() => response.end(), isSlow[url]?.(asked[url]) || 0);
    })
    .listen(8080);`;

/** What a run asks, and how long the fault delays each request, in milliseconds. */
interface Asked {
    path: string;
    delayMs: number;
}
/** Far from each delay: a busy machine adds less than that. */
const limit = "+2s";
const mild = { path: "/", delayMs: 50 };
const severe = { path: "/", delayMs: 5_000 };
const timeoutMs = 10_000;

let cluster: Cluster;
let folder: string;
let stack: Stack;
let asked: Asked = mild;

const program = async () => {
    const { path, delayMs } = asked;
    const experiment = new Experiment("compared", {
        enabled: true,
        context: cluster.kubeconfig.getCurrentContext(),
        hypothesis: "Answers take at most two seconds longer than before.",
        namespace,
        attacks: [{ kind: "fault", service: api, radius: "all", delay: `${delayMs}ms` }],
        checks: [
            {
                kind: "http",
                service: api,
                path,
                perSecond: 40,
                timeoutMs,
                latency: { p95: { atMost: limit } },
                successRate: { dropAtMost: "20%" },
            },
        ],
        baseline: { duration: "8s" },
        window: { duration: "8s", grace: "1s" },
        reports: join(folder, "reports"),
        programs: experimentPrograms,
    });
    return { conclusion: experiment.conclusion };
};

async function run(what: Asked): Promise<Conclusion> {
    asked = what;
    return (await stack.up()).outputs.conclusion!.value as Conclusion;
}

beforeAll(async () => {
    const opened = await openNamespace(namespace);
    ({ folder, cluster } = opened);
    const pod = nodePod(api, answering, { terminationGracePeriodSeconds: 0 }, { ports: [{ containerPort: 8080 }] });
    const spec = { type: "LoadBalancer", selector: { app: api }, ports: [{ port: 80, targetPort: 8080 }] };
    await cluster.core.createNamespacedPod({ namespace, body: pod });
    await cluster.core.createNamespacedService({ namespace, body: { metadata: { name: api }, spec } });
    const found = () => cluster.core.readNamespacedPod({ namespace, name: api });
    await until(`${api} is ready`, async () => isReady(await found()));
    stack = await LocalWorkspace.createStack(
        { stackName: "dev", projectName: "compared", program },
        { pulumiCommand: opened.pulumiCommand },
    );
});
afterAll(async () => {
    await stack?.destroy().catch(() => undefined);
    await removeNamespaces(cluster, [namespace]);
    rmSync(folder, { recursive: true, force: true });
});

describe("a check that is compared with before the attack", () => {
    it("PASSED if its answers are hardly slower, and the reason has both latencies", async () => {
        const { verdict, reason, checks } = await run(mild);
        expect(verdict, reason).toBe("PASSED");
        expect(reason).toMatch(/p95 \S+ m?s before, \S+ m?s under attack: .*required: at most \+2 s/);
        expect(checks[0]!.changes).toMatchObject([
            { of: "p95", isWithin: true },
            { of: "successRate", isWithin: true },
        ]);
    });

    it("FAILED if they are slower than its limit allows, though each comes in time", async () => {
        const { verdict, reason, checks } = await run(severe);
        expect(verdict, reason).toBe("FAILED");
        expect(checks[0]!.changes).toMatchObject([
            { of: "p95", isWithin: false, required: "+2 s" },
            { of: "successRate", isWithin: true },
        ]);
    });

    itInAll("INCONCLUSIVE if its answers leave open whether its limit holds, with what may decide it", async () => {
        const { verdict, code, reason, checks } = await run({ ...mild, path: "/uneven" });
        expect([verdict, code], reason).toEqual(["INCONCLUSIVE", "limit-undecided"]);
        expect(reason).toMatch(/times as many answers of this kind may decide it/);
        expect(checks).toEqual([]);
    });

    itInAll("ABORTED before anything is attacked if its baseline is not fit to be compared with", async () => {
        const error = await run({ ...mild, path: "/unsteady" }).then(({ verdict }) => verdict, plainError);
        expect(error).toMatch(/ABORTED \(baseline-unsteady\): .* count.* independent answers .*Nothing was attacked/s);
        const { spec } = await cluster.core.readNamespacedService({ namespace, name: api });
        expect(spec!.selector).toEqual({ app: api });
    });
});
