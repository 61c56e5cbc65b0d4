import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeNamespaces } from "../../../bench/on-cluster";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { BorrowedStack } from "../../../cli/stack";
import { project } from "../../../cli/stack-file";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { attackPolicies } from "../../support/attack-policies";
import { destroyStack, quick, temporaryPrefix, useBackend } from "./support";

export interface Ended {
    code: number | null;
    stdout: string;
    stderr: string;
}

/** `npm run experiment -- …`, in a namespace of a test's own, with short times. Its shop is the stack `local`. */
export class ExperimentCommand {
    private readonly running = new Map<ChildProcess, Promise<Ended>>();

    private constructor(
        readonly namespace: string,
        readonly cluster: Cluster,
        private readonly backend: string,
        private readonly folder: string,
    ) {}

    /** @param folder of the programs, if not this project's */
    static async open(namespace: string, folder = project): Promise<ExperimentCommand> {
        const backend = mkdtempSync(join(tmpdir(), temporaryPrefix));
        const cluster = await useBackend(backend);
        await removeNamespaces(cluster, [namespace]);
        return new ExperimentCommand(namespace, cluster, backend, folder);
    }

    begin(...options: string[]): {
        child: ChildProcess;
        said: { stdout: string; stderr: string };
        ended: Promise<Ended>;
    } {
        return this.beginProgram("experiment", quick, options);
    }

    run(...options: string[]): Promise<Ended> {
        return this.begin(...options).ended;
    }

    /** `npm run workshop -- …` */
    workshop(...options: string[]): Promise<Ended> {
        return this.beginProgram("workshop", {}, options).ended;
    }

    private beginProgram(program: string, settings: Record<string, string>, options: string[]) {
        const all = Object.entries({ namespace: this.namespace, ...settings });
        const set = all.flatMap(([key, value]) => ["--set", `${key}=${value}`]);
        const command = ["--import", "tsx", `cli/${program}.ts`, ...set, ...options];
        const child = spawn(process.execPath, command, { cwd: this.folder, detached: true });
        const said = { stdout: "", stderr: "" };
        for (const stream of ["stdout", "stderr"] as const)
            child[stream].setEncoding("utf8").on("data", (text: string) => (said[stream] += text));
        const ended = new Promise<Ended>((resolve) =>
            child.once("close", (code) => {
                this.running.delete(child);
                resolve({ code, ...said });
            }),
        );
        this.running.set(child, ended);
        return { child, said, ended };
    }

    /** Ends what a test that gave up has left running, as Ctrl-C does: its experiment is undone first. */
    async interrupt(): Promise<void> {
        for (const [child, ended] of this.running) {
            child.kill("SIGINT");
            await ended;
        }
    }

    async isIsolated(): Promise<boolean> {
        return (await attackPolicies(this.cluster, this.namespace)).length > 0;
    }

    /** Destroys the shop. */
    async close(): Promise<void> {
        await this.interrupt();
        const stack = await BorrowedStack.open("local", await preparePulumi(project));
        stack.set({ "kube.context": this.cluster.kubeconfig.getCurrentContext(), namespace: this.namespace });
        await destroyStack(stack);
        stack.close();
        rmSync(this.backend, { recursive: true, force: true });
    }
}
