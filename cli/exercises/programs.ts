import { type ChildProcess, spawn } from "node:child_process";
import { project } from "../stack-file";

/** Runs programs of `cli/` one after the other, each as its user would, until a signal interrupts them. */
export class Programs {
    private running?: ChildProcess;
    private signals = 0;

    constructor() {
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
            process.on(signal, () => {
                this.signals++;
                // In a terminal, Ctrl-C and SIGHUP reach the program, too. It undoes its experiment before it ends.
                if (signal === "SIGTERM" || !process.stdin.isTTY) this.running?.kill(signal);
            });
    }

    get interrupted(): boolean {
        return this.signals > 0;
    }

    /** Runs `npm run NAME -- ARGS` without npm, and shows what it prints. */
    run(name: string, args: readonly string[]): Promise<{ code: number; output: string }> {
        const child = spawn(process.execPath, ["--import", "tsx", `cli/${name}.ts`, ...args], {
            cwd: project,
            stdio: ["inherit", "pipe", "inherit"],
        });
        this.running = child;
        let output = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
            output += text;
            process.stdout.write(text);
        });
        return new Promise((resolve, reject) => {
            child.once("error", reject);
            child.once("close", (code) => {
                this.running = undefined;
                resolve({ code: code ?? 1, output });
            });
        });
    }
}
