import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestStack } from "../shop/support";

const pauseMs = 25;
/** A process gets its arguments when its program begins, which may be seconds after the process. */
const enoughLooks = 200;

/**
 * Looks at whatever people or programs could see while a stack is driven: the engine's events, debug messages with
 * them, what Pulumi prints, diffs with it, the state, the outputs, the cluster's events and logs, the arguments of all
 * processes. Keeps where a secret was among it.
 */
export class SecretWatch {
    private readonly secrets: string[] = [];
    private readonly found = new Set<string>();
    private readonly looked = new Set<string>();
    private watching = true;

    constructor(
        private readonly stack: TestStack,
        private readonly namespaces: string[],
    ) {
        stack.onEvent = (event) => this.look("engine events", JSON.stringify(event));
        stack.onOutput = (text) => this.look("what Pulumi prints", text);
        void this.watchProcesses();
    }

    /** From now on this must not show, nor what Kubernetes makes of it in a Secret. */
    add(secret: string): void {
        this.secrets.push(secret, Buffer.from(secret).toString("base64"));
    }

    look(where: string, text: string): void {
        if (text !== "") this.looked.add(where);
        if (this.secrets.some((secret) => text.includes(secret))) this.found.add(where);
    }

    /** Looks once at the state and at the cluster's events and logs. Does nothing once the watch has ended. */
    async lookAround(): Promise<void> {
        if (!this.watching) return;
        this.look("state", await this.stack.state());
        const { core } = this.stack.cluster;
        for (const namespace of this.namespaces) {
            this.look("cluster's events", JSON.stringify((await core.listNamespacedEvent({ namespace })).items));
            for (const { metadata } of (await core.listNamespacedPod({ namespace })).items) {
                const log = await core.readNamespacedPodLog({ name: metadata!.name!, namespace }).catch(() => "");
                this.look("pods' logs", String(log));
            }
        }
    }

    /** Ends the watch. @returns the places where a secret showed, and those where there was nothing to look at */
    end(): { showed: string[]; looked: string[] } {
        this.watching = false;
        return { showed: [...this.found].sort(), looked: [...this.looked].sort() };
    }

    private async watchProcesses(): Promise<void> {
        /** How often each process was looked at. After the first time, it may have become another program. */
        let looks = new Map<string, number>();
        while (this.watching) {
            const processes = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
            looks = new Map(processes.map((pid) => [pid, (looks.get(pid) ?? 0) + 1]));
            for (const pid of processes.filter((pid) => looks.get(pid)! <= enoughLooks)) {
                try {
                    this.look("process arguments", readFileSync(`/proc/${pid}/cmdline`, "utf8"));
                } catch {
                    // It has ended meanwhile.
                }
            }
            await sleep(pauseMs);
        }
    }
}

/** Everywhere that a watch of a whole life of a stack has looked. */
export const everywhere = [
    "cluster's events",
    "engine events",
    "outputs",
    "pods' logs",
    "process arguments",
    "state",
    "what Pulumi prints",
];
