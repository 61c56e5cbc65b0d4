import type { OutputMap } from "@pulumi/pulumi/automation";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { allowedContext } from "../components/cluster/allowed-context";
import { annotations } from "../components/cluster/marks";
import { recordIn } from "../components/cluster/state-records";
import { settings } from "../components/configuration/settings";
import { type AgentReference, findAgents, keyOf } from "../chaos/targets/agents";
import { UpdateProgress } from "../chaos/cli/progress";
import { loadKubeconfig } from "../chaos/cluster/kubeconfig";
import { type Cluster, connect, unlessForbidden } from "../chaos/cluster/client";
import { sandboxContext } from "../sandbox/node/addresses";
import { mistakesInMove } from "./installed-shop";
import { preparePulumi } from "../toolchain/prepare-pulumi";
import { requirePassphrase } from "../toolchain/pulumi/environment";
import { demoCluster } from "./cluster";
import { say } from "./print";
import { BorrowedStack } from "./stack";
import { agentOf, fileOfStack, project, StackFile } from "./stack-file";
import { otherResources } from "../chaos/cluster/resources";

/** A stack and its cluster, for the programs of this folder. */
export class Session {
    private constructor(
        readonly cluster: Cluster,
        private readonly stack: BorrowedStack,
        private readonly print: (line: string) => void,
        /** Whether the cluster is plainly on this machine. */
        private readonly isLocal: boolean,
    ) {}

    private interruption = new AbortController();
    private engineRuns = false;

    /**
     * Prepares cluster, Pulumi CLI, plugins, backend and stack. A stack uses the cluster that its file names. If the
     * file of the stack `local` names none, it uses the local cluster or the sandbox.
     *
     * @throws Error if there is no such stack, its secrets cannot be read, or its cluster cannot be used
     */
    static async open(name = "local", print: (line: string) => void = say): Promise<Session> {
        const file = new StackFile(fileOfStack(name));
        if (file.wantsPassphrase) requirePassphrase();
        const open = async () => BorrowedStack.open(name, await preparePulumi(project), { inline: true });
        // Without a file, only the backend can say whether there is such a stack.
        const known = existsSync(fileOfStack(name)) ? undefined : await open();
        const named = file.settings["kube.context"];
        const isDemo = name === "local" && (named === undefined || named === sandboxContext);
        const context = isDemo ? await demoCluster(print, named) : allowedContext(loadKubeconfig(), named, name);
        const stack = known ?? (await open());
        const cluster = connect({ context: context.name });
        if (name === "local" && wantsKey(stack))
            await stack.setSecret(
                "agent.key",
                await localAgentKey(cluster, agentOf(stack.settings, namespaceOf(stack))),
            );
        return new Session(cluster, stack, print, context.local !== undefined);
    }

    /** Updates the stack and prints the progress. The changed settings apply to later updates, too. */
    async up(changes: Record<string, string> = {}): Promise<void> {
        const { signal } = this.interruption;
        this.stack.set(changes);
        const progress = new UpdateProgress(this.print);
        try {
            const record = (await this.shopIsGone()) ? await this.record() : undefined;
            // There is one cluster of a local context on a machine: another one under its name has taken its place.
            const earlier = this.isLocal ? record?.earlier : undefined;
            if (earlier !== undefined) this.print("  The cluster was recreated since the last update");
            signal.throwIfAborted();
            this.engineRuns = true;
            const replace = earlier === undefined ? undefined : [earlier];
            await this.stack.up(progress.onEvent, { refresh: record?.isMadeHere ?? false, replace, signal });
            if (progress.changes === 0) this.print("  ✔ nothing to change");
        } finally {
            this.engineRuns = false;
            progress.end();
        }
    }

    /**
     * Whether the shop's namespace is missing, for example because it was deleted: then the update must refresh first.
     * Other updates must not: after a refresh the engine may wait for pods that cannot become ready during an attack.
     */
    private async shopIsGone(): Promise<boolean> {
        return (
            (await this.cluster.get({ resource: otherResources.namespace, name: namespaceOf(this.stack) })) ===
            undefined
        );
    }

    private async record() {
        const { metadata } = await this.kubeSystem();
        const context = this.cluster.kubeconfig.getCurrentContext();
        return recordIn(await this.stack.state(), { uid: metadata!.uid!, context });
    }

    /** Distinguishes the cluster from one of the same context. Undefined if the account may not look. */
    async clusterUid(): Promise<string | undefined> {
        return (await unlessForbidden(this.kubeSystem()))?.metadata!.uid;
    }

    private kubeSystem() {
        return this.cluster.read({ resource: otherResources.namespace, name: "kube-system" });
    }

    async mistakesInMove(set: Record<string, string>): Promise<string | undefined> {
        const { settings: inFile } = this;
        const asked = Object.fromEntries(Object.entries(set).filter(([key, value]) => inFile[key] !== value));
        if (asked.namespace === undefined && asked.install === undefined) return undefined;
        const namespace = (await this.outputs()).namespace?.value as string | undefined;
        const found =
            namespace === undefined
                ? undefined
                : await this.cluster.get({ resource: otherResources.namespace, name: namespace });
        const install = found && (found.metadata!.annotations?.[annotations.install] ?? settings.install.default);
        return mistakesInMove(asked, { namespace, install }, this.stack.automation.name);
    }

    outputs(): Promise<OutputMap> {
        return this.stack.outputs();
    }

    /** The settings without secrets, from the stack's file and `up`. */
    get settings(): Record<string, string> {
        return this.stack.settings;
    }

    /** See `Cancelable`. */
    cancel({ engineKnows }: { engineKnows: boolean }): void {
        if (!engineKnows || !this.engineRuns) this.interruption.abort();
        this.interruption = new AbortController();
    }

    close(): void {
        this.stack.close();
    }
}

const namespaceOf = (stack: BorrowedStack) => stack.settings.namespace ?? settings.namespace.default;

/** Whether a stack's agent has no key, and accepts any key. A vendor's agent needs the platform's key. */
function wantsKey(stack: BorrowedStack): boolean {
    const install = stack.settings["agent.install"] ?? settings["agent.install"].default;
    return install === "builtin" && !stack.has("agent.key");
}

/** The running agent's key, otherwise a new one. Only the cluster stores it: the next run finds it there. */
async function localAgentKey(cluster: Cluster, agent: AgentReference | undefined): Promise<string> {
    const agents = agent && (await findAgents(cluster, agent));
    return (agents && (await keyOf(cluster, agents))) ?? randomBytes(32).toString("hex");
}
