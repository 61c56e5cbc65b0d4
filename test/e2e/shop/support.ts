import * as k8s from "@kubernetes/client-node";
import type { EngineEvent, OutputMap, StepEventMetadata } from "@pulumi/pulumi/automation";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeNamespaces } from "../../../bench/on-cluster";
import { plainError } from "../../../chaos/cli/plain-error";
import { BorrowedStack } from "../../../cli/stack";
import { project } from "../../../cli/stack-file";
import { defaultAgentNamespace } from "../../../components/configuration/agent";
import { gatewayOf } from "../../../components/shop/gateway";
import { askProducts } from "../../../experiments/products";
import { chooseRoute } from "../../../chaos/kinds/checks/route";
import { labels } from "../../../chaos/cluster/labels";
import type { V1Pod } from "../../../chaos/values/kubernetes-types";
import type { Conclusion } from "../../../chaos/report/conclusion";
import type { Journal } from "../../../chaos/report/journal-schema";
import { reportsFolder } from "../../../experiments/reports-folder";
import { sandboxUp } from "../../../sandbox/node/up";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { fileBackend } from "../../../toolchain/pulumi/environment";
import { type TypedCluster as Cluster, connect, ignoreNotFound, messageOf } from "../../support/typed-cluster";
import type { ShopStatus } from "../../../services/gateway/shop-status";
import { attackPolicies, policiesOfRuns } from "../../support/attack-policies";
import { keptJournals } from "../../support/kept-journals";
import { until } from "../../support/until";
import { commandLines } from "../../../sandbox/test/e2e/processes";

/** Those of these texts that another shows, as they are or as Kubernetes keeps them in a Secret. */
export const shownIn = (text: string, secrets: readonly string[]) =>
    secrets.filter((secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString("base64")));

/** What an update did to one resource. */
export interface Change {
    op: string;
    type: string;
    name: string;
    /** Where it changed one, as the engine shows it: `spec.replicas`. */
    properties: string[];
}

/** How the names of the folders of tests begin that a killed run may leave among the temporary files. */
export const temporaryPrefix = "chaos-shop-e2e-";

/** What each stack of a test is opened with. What is about the agent enables it. */
const defaultsOf = (name: string) => ({ namespace: name, "agent.enabled": "false" });

/** Has this process use the sandbox, and a folder as Pulumi's backend. */
export async function useBackend(folder: string): Promise<Cluster> {
    const { kubeconfig, context } = await sandboxUp();
    Object.assign(process.env, {
        KUBECONFIG: kubeconfig,
        PULUMI_BACKEND_URL: fileBackend(folder),
        PULUMI_CONFIG_PASSPHRASE: "only for this test",
    });
    return connect({ context });
}

/** What a test of the package's component begins with: its folder as Pulumi's backend, and an empty namespace. */
export async function openNamespace(namespace: string) {
    const folder = mkdtempSync(join(tmpdir(), temporaryPrefix));
    const cluster = await useBackend(folder);
    const pulumiCommand = await preparePulumi(project);
    await removeNamespaces(cluster, [namespace]);
    await cluster.core.createNamespace({ body: { metadata: { name: namespace } } });
    return { folder, cluster, pulumiCommand };
}

/** A stack of its own in the sandbox, with a backend, a namespace and a passphrase that nobody else has. */
export class TestStack {
    /** All that the engine and the steps said, for assertions on words. */
    said = "";
    /** Is told of every event of the engine. */
    onEvent?: (event: EngineEvent) => void;
    /** Is told what Pulumi's commands print, diffs with it. */
    onOutput?: (text: string) => void;

    private constructor(
        readonly namespace: string,
        readonly cluster: Cluster,
        private readonly stack: BorrowedStack,
        private readonly backend: string,
        /** Whether the backend's folder goes with the stack. */
        private readonly ownsBackend: boolean,
    ) {}

    private destroyed = false;
    /** The settings of the last update, if it succeeded. */
    private applied?: string;

    /**
     * Removes first what a killed test has left of a stack of this name.
     *
     * @param inline see `BorrowedStack.open`. @default true
     */
    static async open(name: string, { inline = true } = {}): Promise<TestStack> {
        const stack = await TestStack.openAnother(name, { inline });
        await removeNamespaces(stack.cluster, [name, defaultAgentNamespace(name)]);
        return stack;
    }

    /** With a backend of its own, in a namespace that may be another stack's. */
    static async openAnother(name: string, { inline = true } = {}): Promise<TestStack> {
        const backend = mkdtempSync(join(tmpdir(), temporaryPrefix));
        return TestStack.inBackend(name, await useBackend(backend), backend, { ownsBackend: true, inline });
    }

    /** A stack in a backend that stays when it is closed. */
    static async openIn(backend: string, name: string): Promise<TestStack> {
        return TestStack.inBackend(name, await useBackend(backend), backend);
    }

    /** Another stack in the same backend, which must be closed first. */
    beside(name: string): Promise<TestStack> {
        return TestStack.inBackend(name, this.cluster, this.backend);
    }

    private static async inBackend(
        name: string,
        cluster: Cluster,
        backend: string,
        { ownsBackend = false, inline = true } = {},
    ): Promise<TestStack> {
        const stack = await BorrowedStack.open(name, await preparePulumi(project), { inline, create: true });
        const isDeleted = async () =>
            (await ignoreNotFound(cluster.core.readNamespace({ name })))?.status?.phase !== "Terminating";
        await until("the last namespace of this name is gone", isDeleted);
        stack.set(defaultsOf(name));
        return new TestStack(name, cluster, stack, backend, ownsBackend);
    }

    /**
     * One update.
     *
     * @param refresh whether to look first what has become of the resources in the cluster. @default false
     * @param signal cancels the update, like Ctrl-C
     * @returns the changes it made, "same" left out, in the order in which they were done
     */
    async up(
        settings: Record<string, string> = {},
        refresh = false,
        signal?: AbortSignal,
    ): Promise<{ changes: Change[]; outputs: OutputMap }> {
        this.stack.set(settings);
        this.applied = undefined;
        const changes: Change[] = [];
        let values: Record<string, unknown> = {};
        const onEvent = (event: EngineEvent) => {
            const metadata = event.resOutputsEvent?.metadata;
            this.record(event, metadata, changes);
            // Asking the CLI would take 0.3 s.
            if (metadata?.type === "pulumi:pulumi:Stack") values = metadata.new!.outputs;
        };
        await this.stack.up(onEvent, { refresh, signal, onOutput: this.onOutput });
        this.applied = this.setNow;
        const outputs = Object.entries(values).map(([name, value]) => [name, { value, secret: value === "[secret]" }]);
        return { changes, outputs: Object.fromEntries(outputs) as OutputMap };
    }

    /** One update, whose experiment has a verdict. */
    async run(settings: Record<string, string> = {}, signal?: AbortSignal): Promise<Conclusion> {
        return (await this.up(settings, false, signal)).outputs.experiment!.value as Conclusion;
    }

    /** The journal of the newest run in the namespace. */
    journal(): Journal {
        return keptJournals(reportsFolder).find(({ plan }) => plan.namespace === this.namespace)!;
    }

    /** The pods that an experiment has labeled. */
    async targets(): Promise<V1Pod[]> {
        const { namespace, cluster } = this;
        return (await cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target })).items;
    }

    /** The NetworkPolicies that are attacks. */
    attackPolicies(): ReturnType<typeof attackPolicies> {
        return attackPolicies(this.cluster, this.namespace);
    }

    /** Of all accounts. */
    async databasePasswords(): Promise<string[]> {
        const accounts = { name: "database-accounts", namespace: this.namespace };
        const { data } = await this.cluster.core.readNamespacedSecret(accounts);
        return Object.values(data!).map((value) => Buffer.from(value, "base64").toString());
    }

    /** The outputs of the last update. */
    outputs(): Promise<OutputMap> {
        return this.stack.outputs();
    }

    /** An update that looks first what has become of the resources in the cluster; see `up`. */
    refresh(settings: Record<string, string> = {}): ReturnType<TestStack["up"]> {
        return this.up(settings, true);
    }

    /** A secret setting for the updates that follow. */
    setSecret(key: string, value: string): Promise<void> {
        return this.stack.setSecret(key, value);
    }

    /** Settings for the updates that follow. */
    set(settings: Record<string, string>): void {
        this.stack.set(settings);
    }

    /** Leaves a setting to its default in the updates that follow. */
    unset(key: string): void {
        this.stack.set({ [key]: undefined });
    }

    /** An update to the settings that a stack is opened with, unless the last one was to these. */
    async toDefaults(): Promise<void> {
        const { settings } = this.stack;
        const none = Object.fromEntries(Object.keys(settings).map((key) => [key, undefined]));
        this.stack.set({ ...none, ...defaultsOf(this.namespace) });
        if (this.applied !== this.setNow) await this.up();
    }

    /** All settings, in the order of their keys. */
    private get setNow(): string {
        return JSON.stringify(Object.entries(this.stack.settings).sort());
    }

    /** What went wrong in an update that must not succeed, in the words that a user reads. */
    async failingUp(settings: Record<string, string> = {}): Promise<string> {
        return this.up(settings).then(
            () => {
                throw new Error("the update succeeded");
            },
            (error: unknown) => plainError(error),
        );
    }

    /** @param refresh whether to look first what has become of the resources in the cluster. @default false */
    async preview(settings: Record<string, string> = {}, refresh = false): Promise<Change[]> {
        this.stack.set(settings);
        const changes: Change[] = [];
        await this.stack.automation.preview({
            configFile: this.stack.configFile,
            onEvent: (event) => this.record(event, event.resourcePreEvent?.metadata, changes),
            onOutput: this.onOutput,
            diff: this.onOutput !== undefined,
            refresh,
            color: "never",
        });
        return changes;
    }

    /**
     * Begins a plain `pulumi up`, as a process of its own. `ended` gives its exit code, null where it was killed;
     * `printed` what it has printed so far.
     */
    begin(): { ended: Promise<number | null>; printed(): string; kill(): Promise<void> } {
        this.applied = undefined;
        const { automation, configFile } = this.stack;
        const place = ["--stack", automation.name, "--config-file", configFile];
        const child = spawn(
            automation.workspace.pulumiCommand.command,
            ["up", "--yes", "--skip-preview", ...place, "--non-interactive", "--color", "never"],
            { cwd: project, detached: true, stdio: ["ignore", "pipe", "pipe"] },
        );
        let printed = "";
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
        const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
        return {
            ended,
            printed: () => printed,
            kill: async () => {
                if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL");
                await ended;
            },
        };
    }

    /** The stack's exported state. Secrets are encrypted. */
    state(): Promise<string> {
        return this.stack.state();
    }

    /**
     * Why objects of the state could not be made again, if the update that made them had been killed before it noted
     * that: server-side apply has conflicts with itself about what the API server has completed in a list, or in a map
     * that has one owner. Without Secrets, which are encrypted in the state, and what is forced.
     */
    async conflictsIfRepeated(): Promise<string[]> {
        const api = k8s.KubernetesObjectApi.makeApiClient(this.cluster.library);
        const { deployment } = JSON.parse(await this.state()) as {
            deployment: { resources: { type: string; inputs: k8s.KubernetesObject }[] };
        };
        const applied = deployment.resources.filter(
            ({ type, inputs }) =>
                type.startsWith("kubernetes:") &&
                type !== "kubernetes:core/v1:Secret" &&
                inputs.metadata?.annotations?.["pulumi.com/patchForce"] === undefined,
        );
        const conflicts = await Promise.all(
            applied.map(({ inputs }) =>
                api.patch(inputs, undefined, "All", "another", false, k8s.PatchStrategy.ServerSideApply).then(
                    () => [],
                    (error: unknown) => `${inputs.kind} ${inputs.metadata!.name}: ${messageOf(error)}`,
                ),
            ),
        );
        return conflicts.flat();
    }

    /** Releases the lock that a killed update has left, as `pulumi cancel` does. */
    cancel(): Promise<void> {
        return this.stack.automation.cancel();
    }

    /** Whether an update of the stack has started its program. */
    isProgramRunning(): boolean {
        const ofStack = ` --stack ${this.namespace} `;
        return commandLines().some((command) => command.includes("cmd/run") && command.includes(ofStack));
    }

    /** Whether the backend holds a lock of the stack, as it does while an update runs. */
    isLocked(): boolean {
        const locks = join(this.backend, ".pulumi", "locks");
        return (
            existsSync(locks) && readdirSync(locks, { recursive: true }).some((name) => String(name).endsWith(".json"))
        );
    }

    /** What went wrong in a `pulumi destroy` that must not succeed, with all that its steps said. */
    async failingDestroy(): Promise<string> {
        const before = this.said.length;
        return this.destroy().then(
            () => {
                throw new Error("the stack was destroyed");
            },
            (error: unknown) => `${this.said.slice(before)}${plainError(error)}`,
        );
    }

    async destroy(): Promise<void> {
        this.applied = undefined;
        await destroyStack(this.stack, (event) => this.record(event, undefined, []), this.onOutput);
        this.destroyed = true;
    }

    /** Removes all that is left of the stack, and waits for nothing that a namespace takes with it. */
    async close(): Promise<void> {
        try {
            if (!this.destroyed && (await this.exists())) await this.remove();
        } finally {
            this.forget();
            if (this.ownsBackend) rmSync(this.backend, { recursive: true, force: true });
        }
    }

    /** Leaves the stack as it is, for the next that opens it. */
    forget(): void {
        this.stack.close();
    }

    private async remove(): Promise<void> {
        // A shop is nowhere else, but an agent is.
        if (this.stack.settings["agent.enabled"] === "false")
            return void (await this.cluster.core.deleteNamespace({ name: this.namespace }));
        await this.cancel().catch(() => undefined);
        await destroyStack(this.stack);
    }

    /** Whether the namespace is there, also while it is being deleted. */
    async exists(): Promise<boolean> {
        return (await ignoreNotFound(this.cluster.core.readNamespace({ name: this.namespace }))) !== undefined;
    }

    /** One answer of `/products`, by whatever way there is. */
    async products() {
        return askProducts(this.cluster, await chooseRoute(this.cluster, gatewayOf(this.namespace)), 5_000);
    }

    /** Waits until `/products` lists all backends. */
    async untilWhole(): Promise<void> {
        await until("/products is whole", async () => (await this.products()).good);
    }

    /** What the shop's page shows of attacks. */
    async attacksOnPage(): Promise<ShopStatus["attacks"]> {
        const { productsUrl } = await this.outputs();
        const status = await fetch((productsUrl!.value as string).replace(/products$/, "status"));
        return ((await status.json()) as ShopStatus).attacks;
    }

    /** All that belongs to experiments in the namespace: policies, Jobs, accounts, leases, labeled pods. */
    async traces(): Promise<string[]> {
        const { namespace, cluster } = this;
        const ofExperiments = { namespace, labelSelector: "chaos-experiments/experiment" };
        const [jobs, ...found] = await Promise.all([
            cluster.batch.listNamespacedJob({ namespace }),
            policiesOfRuns(cluster, namespace).then((items) => ({ items })),
            cluster.coordination.listNamespacedLease({ namespace }),
            cluster.core.listNamespacedService(ofExperiments),
            cluster.rbac.listNamespacedRole(ofExperiments),
            cluster.rbac.listNamespacedRoleBinding(ofExperiments),
            cluster.core.listNamespacedServiceAccount(ofExperiments),
            cluster.core.listNamespacedConfigMap(ofExperiments),
            cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-experiments/target" }),
        ]);
        // A Job that has been deleted is there until its pod has ended.
        const remaining = jobs.items.filter(({ metadata }) => metadata!.deletionTimestamp === undefined);
        return [{ items: remaining }, ...found].flatMap(({ items }) => items.map(({ metadata }) => metadata!.name!));
    }

    private record(event: EngineEvent, metadata: StepEventMetadata | undefined, changes: Change[]): void {
        this.onEvent?.(event);
        // Debug messages, which the SDK's types forget, are its dumps of its own calls; nobody is shown them.
        if (event.diagnosticEvent && (event.diagnosticEvent.severity as string) !== "debug")
            this.said += `${event.diagnosticEvent.message}\n`;
        if (!metadata || ["same", "read", "refresh"].includes(metadata.op)) return;
        const [type, name] = metadata.urn.split("::").slice(2);
        // The engine's own, which it makes as they are needed and shows to nobody.
        if (type!.startsWith("pulumi:providers:") && name!.startsWith("default")) return;
        changes.push({
            op: metadata.op,
            type: type!.split("$").at(-1)!,
            name: name!,
            properties: Object.keys(metadata.detailedDiff ?? {}),
        });
    }
}

/** Destroys a stack's resources and removes it. @param onOutput receives the output of `pulumi destroy` */
export async function destroyStack(
    { automation, configFile }: BorrowedStack,
    onEvent?: (event: EngineEvent) => void,
    onOutput?: (text: string) => void,
): Promise<void> {
    await automation.destroy({ configFile, onEvent, onOutput, color: "never", showSecrets: false });
    await automation.workspace.removeStack(automation.name, { preserveConfig: true });
}

/** A short experiment: what is tested is the order of things, not endurance. */
export const quick = { "experiment.duration": "2s", "experiment.grace": "2s", "experiment.interval": "250ms" };

/** All that a preview of the default experiment shows, in alphabetical order, without hashes. */
export const experimentParts = [
    "create Command experiment-check",
    "create Command experiment-end-attacks",
    "create Command experiment-steady-state",
    "create Command experiment-targets",
    "create ConfigMap experiment-deadline-program",
    "create Experiment experiment",
    "create Job experiment-deadline",
    "create NetworkPolicy experiment-blackhole",
    "create Role experiment-deadline-role",
    "create RoleBinding experiment-deadline-binding",
    "create ServiceAccount experiment-deadline-account",
    "create Stash experiment-identity",
];
