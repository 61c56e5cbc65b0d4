import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/on-cluster";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import type { Action } from "../../../chaos/index";
import type { Conclusion } from "../../../chaos/report/conclusion";
import type { Journal } from "../../../chaos/report/journal-schema";
import { project } from "../../../cli/stack-file";
import { createNamespace, nodePod, ready } from "../../../sandbox/test/e2e/support";
import { importK6 } from "../../../sandbox/test/support/k6";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { keptJournals } from "../../support/kept-journals";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { temporaryPrefix, useBackend } from "../shop/support";

const serving = `require("http").createServer((_, answer) => answer.end("{}")).listen(8080);`;
const slow = [{ kind: "fault", service: "api", delay: "300ms" }];

describe("a load by a script of k6", () => {
    const namespace = "e2e-k6";
    let cluster: Cluster;
    let folder: string;
    let stack: Stack;
    let image: string;
    let base: string;
    let args: Partial<ExperimentArgs>;
    let runs = 0;

    const program = async () => {
        const experiment = new Experiment("loaded", {
            enabled: true,
            context: cluster.kubeconfig.getCurrentContext(),
            hypothesis: "It holds.",
            namespace,
            run: String(runs),
            checks: [{ kind: "podsReady", of: "k8s.pod.name=api" }],
            window: { duration: "8s", grace: "2s" },
            reports: join(folder, "reports"),
            programs: experimentPrograms,
            ...args,
        });
        return { conclusion: experiment.conclusion };
    };
    const k6 = (script: string, variables: Record<string, string | number> = {}): Action => {
        const given = Object.entries({ BASE: base, ...variables }).flatMap(([name, value]) => [
            "-e",
            `${name}=${value}`,
        ]);
        return { kind: "load", name: "shoppers", k6: { image, args: ["run", ...given, `/scripts/${script}`] } };
    };
    async function conclusionOf(wanted: Partial<ExperimentArgs>): Promise<Conclusion> {
        runs++;
        args = wanted;
        return (await stack.up()).outputs.conclusion!.value as Conclusion;
    }
    const journal = (): Journal => keptJournals(join(folder, "reports"))[0]!;
    const untilNone = () =>
        until("no load is left", async () => {
            const of = { namespace, labelSelector: "chaos-experiments/beside" };
            return (await cluster.core.listNamespacedPod(of)).items.length === 0;
        });

    beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), temporaryPrefix));
        cluster = await useBackend(folder);
        const pulumiCommand = await preparePulumi(project);
        image = await importK6();
        await createNamespace(namespace);
        await cluster.core.createNamespacedPod({ namespace, body: nodePod("api", serving) });
        const spec = { selector: { app: "api" }, ports: [{ port: 80, targetPort: 8080 }] };
        const made = await cluster.core.createNamespacedService({
            namespace,
            body: { metadata: { name: "api" }, spec },
        });
        base = `http://${made.spec!.clusterIP}`;
        await ready(namespace, "api");
        const where = { stackName: "dev", projectName: "loaded-by-k6", program };
        stack = await LocalWorkspace.createStack(where, { pulumiCommand });
    }, 1_800_000);
    afterAll(async () => {
        await stack?.destroy().catch(() => undefined);
        await removeNamespaces(cluster, [namespace]);
        rmSync(folder, { recursive: true, force: true });
    });

    it("is sent at its rate though the Service is slow, which its latencies show, and ends with the run", async () => {
        const { verdict, reason } = await conclusionOf({
            attacks: slow,
            actions: [k6("open.js", { RATE: 50, VUS: 60 })],
        } as never);
        expect([verdict, reason]).toEqual(["PASSED", expect.any(String)]);
        const [{ due, sent, good, latencyMs }] = journal().deliveries as [NonNullable<Journal["deliveries"]>[number]];
        expect(due).toBeGreaterThan(200);
        expect(sent / due).toBeGreaterThan(0.98);
        expect(good).toBe(sent);
        expect(latencyMs!.p50).toBeGreaterThan(290);
        await untilNone();
    });

    it("is INCONCLUSIVE if it drops iterations under attack, since it has too few VUs", async () => {
        const few = k6("open.js", { RATE: 50, VUS: 5 });
        const { verdict, code, reason } = await conclusionOf({ attacks: slow, actions: [few] } as never);
        expect([verdict, code]).toEqual(["INCONCLUSIVE", "load-not-delivered"]);
        expect(reason).toMatch(/all its connections or VUs waited for answers.*`maxVUs` of k6/);
        await untilNone();
    });

    it("is INCONCLUSIVE if the script ends before the checks", async () => {
        const short = k6("open.js", { RATE: 50, VUS: 20, DURATION: "30s" });
        const window = { duration: "60s" } as const;
        const { verdict, code, reason } = await conclusionOf({ actions: [short], window });
        expect([verdict, code]).toEqual(["INCONCLUSIVE", "load-not-delivered"]);
        expect(reason).toMatch(/of \d+ nothing was reported; its pod \S+ has ended \(Completed\)/);
        await untilNone();
    });

    it.each([
        [
            "whose executor is a closed loop",
            "closed.js",
            /ABORTED \(action-refused\): scenario .users. of k6 is a closed/,
        ],
        ["that the image does not have", "none.js", /ABORTED \(load-not-delivered\): its pod \S+ has ended/],
    ])("attacks nobody by a script %s", async (_, script, words) => {
        runs++;
        args = { attacks: slow, actions: [k6(script)] } as never;
        const failing = await stack.up().then(
            () => "",
            (error: unknown) => String(error),
        );
        expect(failing).toMatch(words);
        await untilNone();
    });
});
