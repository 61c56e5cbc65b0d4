import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeNamespaces } from "../../bench/on-cluster";
import type { AttackDefinition } from "../../chaos/index";
import { Experiment, type ExperimentArgs } from "../../chaos/face/experiment";
import type { Conclusion } from "../../chaos/report/conclusion";
import type { Journal } from "../../chaos/report/journal-schema";
import { project } from "../../cli/stack-file";
import { createNamespace, nodePod, ready } from "../../sandbox/test/e2e/support";
import { experimentPrograms } from "../../toolchain/experiment-programs";
import { preparePulumi } from "../../toolchain/prepare-pulumi";
import { keptJournals } from "../support/kept-journals";
import type { TypedCluster as Cluster } from "../support/typed-cluster";
import { until } from "../support/until";
import { temporaryPrefix, useBackend } from "./shop/support";

export const loadPods = async (cluster: Cluster, namespace: string) =>
    (await cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-experiments/beside" })).items;

/** A load goes on for 3 s after its run, and its pod has 5 s to end. */
const endedMs = 10_000;
export const untilNoLoad = (cluster: Cluster, namespace: string, timeoutMs = endedMs) =>
    until("no load is left", async () => (await loadPods(cluster, namespace)).length === 0, { timeoutMs });

/** An attack under which a load shows a slow Service. */
export const slow: AttackDefinition[] = [{ kind: "fault", service: "api", delay: "300ms" }];

/**
 * For tests of the action `load`: a stack, in this process, with one experiment about a Service `api` of one pod, in a
 * namespace of its own that admits only restricted pods.
 */
export class LoadedStack {
    /** What the running update has said, or the last one. */
    said = "";
    private runs = 0;
    private args: Partial<ExperimentArgs> = {};
    private stack?: Stack;

    private constructor(
        readonly namespace: string,
        readonly cluster: Cluster,
        private readonly folder: string,
    ) {}

    /** @param serving the JavaScript of the pod, which listens on port 8080 */
    static async open(namespace: string, serving: string): Promise<LoadedStack> {
        const folder = mkdtempSync(join(tmpdir(), temporaryPrefix));
        const cluster = await useBackend(folder);
        await createNamespace(namespace);
        const loaded = new LoadedStack(namespace, cluster, folder);
        await cluster.core.createNamespacedPod({ namespace, body: nodePod("api", serving) });
        const spec = { selector: { app: "api" }, ports: [{ port: 80, targetPort: 8080 }] };
        await cluster.core.createNamespacedService({ namespace, body: { metadata: { name: "api" }, spec } });
        await ready(namespace, "api");
        const where = { stackName: "dev", projectName: namespace, program: () => loaded.program() };
        loaded.stack = await LocalWorkspace.createStack(where, { pulumiCommand: await preparePulumi(project) });
        return loaded;
    }

    private program() {
        const { conclusion } = new Experiment("loaded", {
            enabled: true,
            context: this.cluster.kubeconfig.getCurrentContext(),
            hypothesis: "It holds.",
            namespace: this.namespace,
            run: String(this.runs),
            checks: [{ kind: "podsReady", of: "k8s.pod.name=api" }],
            window: { duration: "8s", grace: "2s" },
            reports: join(this.folder, "reports"),
            programs: experimentPrograms,
            ...this.args,
        });
        return Promise.resolve({ conclusion });
    }

    /** Does a run. @throws Error with what the update says, if it fails */
    async conclusionOf(args: Partial<ExperimentArgs>): Promise<Conclusion> {
        [this.args, this.said] = [args, ""];
        this.runs++;
        const { outputs } = await this.stack!.up({ onOutput: (text) => (this.said += text) });
        return outputs.conclusion!.value as Conclusion;
    }

    /** What the update of a run says that fails. Empty if it does not. */
    failureOf(args: Partial<ExperimentArgs>): Promise<string> {
        return this.conclusionOf(args).then(() => "", String);
    }

    /** Of the last run. */
    get journal(): Journal {
        return keptJournals(join(this.folder, "reports"))[0]!;
    }

    /** Of the one load of the last run. */
    get delivery() {
        return this.journal.deliveries![0]!;
    }

    untilNoLoad(): Promise<unknown> {
        return untilNoLoad(this.cluster, this.namespace);
    }

    async close(): Promise<void> {
        await this.stack?.destroy().catch(() => undefined);
        await removeNamespaces(this.cluster, [this.namespace]);
        rmSync(this.folder, { recursive: true, force: true });
    }
}
