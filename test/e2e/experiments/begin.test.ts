import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Experiment } from "../../../chaos/face/experiment";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { journalSchema } from "../../../chaos/report/journal-schema";
import { isReady } from "../../../chaos/targets/containers";
import { kubectl, webPod } from "../../../sandbox/test/e2e/support";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { keptJournals } from "../../support/kept-journals";
import { messageOf, type TypedCluster as Cluster } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";

const namespace = "e2e-begin";

let cluster: Cluster;
let folder: string;
let stack: Stack;
let within = "1m";

const program = async () => {
    const experiment = new Experiment("begin", {
        enabled: true,
        context: cluster.kubeconfig.getCurrentContext(),
        hypothesis: "The other pod stays ready.",
        namespace,
        begin: {
            when: {
                kind: "condition",
                name: "the batch",
                of: { apiVersion: "v1", kind: "ConfigMap", name: "batch" },
                field: "data.state",
                equals: "running",
            },
            within,
        },
        attacks: [{ kind: "blackhole", target: "k8s.pod.name=one" }],
        checks: [{ kind: "podsReady", of: "k8s.pod.name=other" }],
        window: { duration: "2s", grace: "1s" },
        reports: join(folder, "reports"),
        programs: experimentPrograms,
    });
    return { conclusion: experiment.conclusion };
};

beforeAll(async () => {
    const opened = await openNamespace(namespace);
    ({ folder, cluster } = opened);
    for (const name of ["one", "other"])
        await cluster.core.createNamespacedPod({ namespace, body: webPod(name, { terminationGracePeriodSeconds: 0 }) });
    const readyPods = async () => (await cluster.core.listNamespacedPod({ namespace })).items.filter(isReady);
    await until("both pods are ready", async () => (await readyPods()).length === 2);
    stack = await LocalWorkspace.createStack(
        { stackName: "dev", projectName: "begin", program },
        { pulumiCommand: opened.pulumiCommand },
    );
});
afterAll(async () => {
    await stack?.destroy().catch(() => undefined);
    await cluster.core.deleteNamespace({ name: namespace }).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
});

const kinds = "leases,jobs,networkpolicies,pods,services,configmaps,serviceaccounts,roles,rolebindings";
const line = String.raw`{range .items[*]}{.kind} {.metadata.name} {.metadata.labels}{"\n"}{end}`;
/** All that a run could make or label in the namespace. */
const contents = async () =>
    (await kubectl(["--namespace", namespace, "get", kinds, "--output", `jsonpath=${line}`])).split("\n").sort();

it("a run waits, and leaves no trace; it begins when it holds, and has its verdict though that passes", async () => {
    const before = await contents();
    expect(before.join()).toMatch(/Pod one .*Pod other /);
    let said = "";
    const updated = stack.up({ onOutput: (text) => (said += text) });
    // What fails here is told instead.
    updated.catch(() => undefined);
    await until("it waits", () => said.includes("Waiting until the batch holds, for at most 1m"));
    await sleep(2_000);
    expect(await contents()).toEqual(before);

    const body = { metadata: { name: "batch" }, data: { state: "running" } };
    await cluster.core.createNamespacedConfigMap({ namespace, body });
    const created = performance.now();
    await until("it begins", () => /the batch holds after .*: the run begins/.test(said), { pauseMs: 20 });
    expect(performance.now() - created).toBeLessThan(3_000);
    await cluster.core.deleteNamespacedConfigMap({ name: "batch", namespace });
    const { verdict, reason, journal } = (await updated).outputs.conclusion!.value as Conclusion;
    expect(verdict, reason).toBe("PASSED");
    const { waitedMs } = journalSchema.parse(JSON.parse(readFileSync(journal, "utf8")));
    expect(waitedMs).toBeGreaterThan(2_000);
    await stack.destroy();
    expect(await contents()).toEqual(before);
});

it("if it does not hold in time, the run is ABORTED, and nobody was attacked", async () => {
    within = "2s";
    const before = await contents();
    const error = await stack.up().then(() => "none", messageOf);
    expect(error).toMatch(/ABORTED \(begin-not-met\): the batch did not hold within 2s: .*Nothing was attacked/s);
    expect(await contents()).toEqual(before);
    expect(keptJournals(join(folder, "reports"))[0]!.conclusion).toMatchObject({
        verdict: "ABORTED",
        code: "begin-not-met",
        targets: [],
    });
});
