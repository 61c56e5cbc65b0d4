import type { PulumiCommand } from "@pulumi/pulumi/automation";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { BorrowedStack } from "../cli/stack";
import { sandboxEnvironment } from "../sandbox/node/env";
import { sandboxUp } from "../sandbox/node/up";
import { preparePulumi } from "../sandbox/preparePulumi";
import { fileBackend } from "../sandbox/pulumi/environment";
import { type Cluster, connect } from "../shared/kubernetes";
import { removeNamespaces, untilProductsAnswer } from "./cluster";
import { BenchStack, project } from "./stack";

/** Namespaces of the bench's own. Whatever is in them is thrown away. */
export const namespaces = {
    pulumi: "bench-pulumi",
    kubectl: "bench-kubectl",
    helm: "bench-helm",
    shop: "bench-shop",
    agent: "bench-agent",
} as const;

const durationSeconds = 2;
const graceSeconds = 1;
const quickExperiment = { "experiment.duration": `${durationSeconds}s`, "experiment.grace": `${graceSeconds}s` };
/** The check's window while an experiment is measured; what is measured has it subtracted. */
export const windowSeconds = durationSeconds + graceSeconds;

/** What all figures are measured with: the sandbox, the Pulumi command line, and one shop that is made when first needed. */
export class Session {
    private stacks = 0;
    private shop?: Promise<BenchStack>;

    private constructor(
        readonly cluster: Cluster,
        readonly context: string,
        private readonly pulumi: PulumiCommand,
        /** A folder for whatever is needed meanwhile. */
        readonly scratch: string,
        readonly say: (line: string) => void,
    ) {}

    static async open(say: (line: string) => void): Promise<Session> {
        const scratch = mkdtempSync(join(tmpdir(), "chaos-shop-bench-"));
        const { kubeconfig, context } = await sandboxUp();
        // A backend of its own, of the same kind as `npm run demo` makes, for every stack here.
        Object.assign(process.env, {
            KUBECONFIG: kubeconfig,
            PULUMI_BACKEND_URL: fileBackend(scratch),
            PULUMI_CONFIG_PASSPHRASE: "bench",
        });
        delete process.env.PULUMI_CONFIG_PASSPHRASE_FILE;
        // Where a machine has certificates of its own, each Node program reads them before all else, which takes as long as
        // the rest of its start. That is not what is measured.
        delete process.env.NODE_EXTRA_CA_CERTS;
        const pulumi = await preparePulumi(project);
        process.env.PATH = [...sandboxEnvironment().path, process.env.PATH].join(delimiter);
        const session = new Session(connect(context), context, pulumi, scratch, say);
        await removeNamespaces(session.cluster, Object.values(namespaces));
        return session;
    }

    /** A new stack with the shop's settings for a namespace; nothing of it is in the cluster yet. */
    async newShopStack(namespace: string): Promise<BenchStack> {
        const stack = await BenchStack.ofProject(this.pulumi.command, this.scratch, `bench-${++this.stacks}`);
        await stack.set(this.shopSettings(namespace));
        return stack;
    }

    /** A new stack of a program with so many shops; nothing of them is in the cluster. */
    async manyShopsStack(shops: number): Promise<BenchStack> {
        const stack = await BenchStack.ofProject(
            this.pulumi.command,
            this.scratch,
            `bench-${shops}-shops`,
            join(project, "bench", "manyShops"),
        );
        await stack.set({ context: this.context, shops: String(shops) });
        return stack;
    }

    /** The stack of a program that makes nothing, with nothing left to update. */
    async emptyStack(): Promise<BenchStack> {
        const stack = await BenchStack.ofEmptyProgram(this.pulumi.command, this.scratch, "bench-empty");
        await stack.settle();
        return stack;
    }

    /** A running shop in `namespaces.shop`, the same for all who ask. */
    runningShop(): Promise<BenchStack> {
        this.shop ??= this.bringUp();
        return this.shop;
    }

    /** The same shop's stack, driven as `npm run` does. To be closed. */
    async borrowedShop(): Promise<BorrowedStack> {
        const { name } = await this.runningShop();
        const stack = await BorrowedStack.open(name, this.pulumi, { inline: true });
        stack.set({ ...this.shopSettings(namespaces.shop), ...quickExperiment });
        return stack;
    }

    private shopSettings(namespace: string): Record<string, string> {
        return { namespace, "kube.context": this.context, "agent.enabled": "false" };
    }

    private async bringUp(): Promise<BenchStack> {
        this.say("putting a shop up to measure on");
        const stack = await this.newShopStack(namespaces.shop);
        await stack.set(quickExperiment);
        const begun = performance.now();
        await stack.up();
        await untilProductsAnswer(this.cluster, namespaces.shop, begun);
        return stack;
    }

    /** Removes all that was made. The stacks go with their backend: all their resources were in the namespaces. */
    async close(): Promise<void> {
        rmSync(this.scratch, { recursive: true, force: true });
        await removeNamespaces(this.cluster, Object.values(namespaces));
    }
}
