import { join } from "node:path";
import type { Conclusion } from "../../chaos/report/conclusion";
import { project } from "../../toolchain/bundle-cache";
import { runCommand } from "../../toolchain/run-command";
import type { Session } from "../session";
import type { BenchStack } from "../stack";
import type { Command } from "./run-to-end";

/** A program of `bench/peers` whose stack runs an experiment if `enabled` is set. */
type Program = "program" | "bare";

/** The stack of such a program. */
export class Ours {
    private constructor(private readonly stack: BenchStack) {}

    /** A stack whose experiment is disabled. @param settings of the program */
    static async open(session: Session, settings: Record<string, string>, program: Program = "program"): Promise<Ours> {
        const { context, scratch, say } = session;
        say("building the package");
        await runCommand("npm", ["run", "--workspace", "chaos", "prepack"], { cwd: project });
        const stack = await session.newStack(`peers-${program}`, join(project, "bench", "peers", program));
        await stack.set({ context, reports: join(scratch, "reports"), ...settings });
        const ours = new Ours(stack);
        await ours.disable();
        return ours;
    }

    /** Has the next update run the experiment. @param settings that differ from those before. @default none */
    async enable(settings: Record<string, string> = {}): Promise<void> {
        await this.stack.set({ ...settings, enabled: "true" });
    }

    /** The command that updates the stack. */
    update(...options: string[]): Command {
        return this.stack.command("up", "--yes", ...options);
    }

    async disable(): Promise<void> {
        await this.stack.set({ enabled: "false" });
        await this.stack.up();
    }

    /** Has the stack be used again after an update was killed. One that was killed early has left no lock. */
    async release(): Promise<void> {
        await this.stack.cancel().catch(() => undefined);
    }

    /** Of the last update. Undefined if it has left none. */
    conclusion(): Promise<Conclusion | undefined> {
        // The CLI refuses to print an output that the stack does not have.
        return this.stack.output<Conclusion>("conclusion").catch(() => undefined);
    }
}
