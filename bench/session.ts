import type { PulumiCommand } from "@pulumi/pulumi/automation";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { BorrowedStack } from "../cli/stack";
import { project } from "../cli/stack-file";
import { sandboxEnvironment } from "../sandbox/node/env";
import { sandboxUp } from "../sandbox/node/up";
import { preparePulumi } from "../toolchain/prepare-pulumi";
import { reportsVariable } from "../experiments/run";
import { fileBackend } from "../toolchain/pulumi/environment";
import { type Cluster, connect } from "../chaos/cluster/client";
import { removeNamespaces, untilProductsAnswer } from "./on-cluster";
import { BenchStack } from "./stack";

/** The bench's namespaces. It deletes them with everything in them. */
export const namespaces = {
    pulumi: "bench-pulumi",
    kubectl: "bench-kubectl",
    shop: "bench-shop",
    peers: "bench-peers",
} as const;

const durationSeconds = 9;
const graceSeconds = 1;
const quickExperiment = { "experiment.duration": `${durationSeconds}s`, "experiment.grace": `${graceSeconds}s` };
/** The check's window, which is subtracted from measured times. */
export const windowSeconds = durationSeconds + graceSeconds;

/** What all figures use: the sandbox, the Pulumi CLI, and one shop, which is created when first needed. */
export class Session {
    private stacks = 0;
    private shop?: Promise<BenchStack>;

    private constructor(
        readonly cluster: Cluster,
        readonly context: string,
        private readonly pulumi: PulumiCommand,
        /** A temporary folder. */
        readonly scratch: string,
        readonly say: (line: string) => void,
        private readonly used: readonly string[],
    ) {}

    /** @param used the namespaces that are deleted now and at the end. @default all of the bench's */
    static async open(say: (line: string) => void, used: readonly string[] = Object.values(namespaces)) {
        const scratch = mkdtempSync(join(tmpdir(), "chaos-shop-bench-"));
        const { kubeconfig, context } = await sandboxUp();
        // A separate backend of the same kind as in `npm run demo`.
        Object.assign(process.env, {
            KUBECONFIG: kubeconfig,
            PULUMI_BACKEND_URL: fileBackend(scratch),
            PULUMI_CONFIG_PASSPHRASE: "bench",
            [reportsVariable]: join(scratch, "reports"),
        });
        delete process.env.PULUMI_CONFIG_PASSPHRASE_FILE;
        // Reading extra certificates doubles the start time of each Node program.
        delete process.env.NODE_EXTRA_CA_CERTS;
        const pulumi = await preparePulumi(project);
        process.env.PATH = [...sandboxEnvironment().path, process.env.PATH].join(delimiter);
        const session = new Session(connect({ context }), context, pulumi, scratch, say, used);
        await removeNamespaces(session.cluster, used);
        return session;
    }

    /** A new stack with settings for a shop. It has no resources yet. */
    async newShopStack(namespace: string): Promise<BenchStack> {
        const stack = await this.newStack("shop", project);
        await stack.set(this.shopSettings(namespace));
        return stack;
    }

    /** The stack of a program without resources. It is updated, so that a preview shows no changes. */
    async emptyStack(): Promise<BenchStack> {
        const stack = await this.openStack("bench-empty", join(project, "bench", "empty-program"));
        await stack.up();
        return stack;
    }

    /** A running shop in `namespaces.shop`, shared by all figures. */
    runningShop(): Promise<BenchStack> {
        this.shop ??= this.bringUp();
        return this.shop;
    }

    /** The same shop's stack, used as by `npm run experiment`. The caller closes it. */
    async borrowedShop(): Promise<BorrowedStack> {
        const { name } = await this.runningShop();
        const stack = await BorrowedStack.open(name, this.pulumi, { inline: true });
        stack.set({ ...this.shopSettings(namespaces.shop), ...quickExperiment });
        return stack;
    }

    /** A new stack of the program in a folder. */
    newStack(name: string, folder: string): Promise<BenchStack> {
        return this.openStack(`bench-${name}-${++this.stacks}`, folder);
    }

    private openStack(name: string, folder: string): Promise<BenchStack> {
        return BenchStack.open(this.pulumi.command, this.scratch, name, folder);
    }

    private shopSettings(namespace: string): Record<string, string> {
        return { namespace, "kube.context": this.context, "agent.enabled": "false" };
    }

    private async bringUp(): Promise<BenchStack> {
        this.say("installing a shop");
        const stack = await this.newShopStack(namespaces.shop);
        await stack.set(quickExperiment);
        const begun = performance.now();
        await stack.up();
        await untilProductsAnswer(this.cluster, namespaces.shop, begun);
        return stack;
    }

    /** Deletes the backend with all stacks, and the namespaces with all their resources. */
    async close(): Promise<void> {
        rmSync(this.scratch, { recursive: true, force: true });
        await removeNamespaces(this.cluster, this.used);
    }
}

/** Rejects when this program is interrupted. */
export const interrupted = (): Promise<never> =>
    new Promise((_, reject) => {
        for (const signal of ["SIGINT", "SIGTERM"] as const)
            process.once(signal, () => reject(new Error(`interrupted by ${signal}`)));
    });
