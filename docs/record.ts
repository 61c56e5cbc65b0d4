/** `npm run record`: runs a command in a terminal of its own, and writes what it showed as an animated picture. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { quote } from "shlex";
import { recordProgram } from "../cli/programs";
import { animated, type Output } from "./recording/animation";

const screen = { columns: 112, rows: 30 };
/** A page with a larger picture loads slowly. */
const mostBytes = 300_000;
const project = join(__dirname, "..");

/** @returns what the command printed. @throws Error if it fails */
async function recorded(command: readonly string[]): Promise<Output[]> {
    const output: Output[] = [];
    const inTerminal = `stty columns ${screen.columns} rows ${screen.rows}; exec ${command.map(quote).join(" ")}`;
    const child = spawn("script", ["--quiet", "--return", "--flush", "--command", inTerminal, "/dev/null"], {
        stdio: ["pipe", "pipe", "inherit"],
        // Ctrl-C must reach the command by its terminal: it may have something to undo.
        detached: true,
        env: { ...process.env, TERM: "xterm-256color" },
    });
    process.on("SIGINT", () => child.stdin.write("\u0003"));
    const begunAt = performance.now();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
        process.stdout.write(text);
        // Where this checkout is concerns nobody.
        output.push({ atMs: performance.now() - begunAt, text: text.replaceAll(project, "~/chaos-shop") });
    });
    const code = await new Promise<number | null>((resolve, reject) => {
        child.on("error", reject).on("close", resolve);
    });
    if (code !== 0) throw new Error(`${command.join(" ")} failed with exit code ${code}; nothing is written`);
    return output;
}

async function record({ out, command }: { out: string; command: readonly string[] }): Promise<void> {
    const text = command.join(" ");
    const prompt = { atMs: 0, text: `\u001B[36m$ ${text}\u001B[39m\r\n` };
    const picture = await animated([prompt, ...(await recorded(command))], screen, `A terminal that runs ${text}`);
    const bytes = Buffer.byteLength(picture);
    if (bytes > mostBytes) throw new Error(`the picture has ${bytes} bytes; allowed: ${mostBytes}; nothing is written`);
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, picture);
    console.log(`Wrote ${out}, ${Math.ceil(bytes / 1_000)} kB`);
}

recordProgram.run((args) => {
    const { out } = recordProgram.read<{ out: string }>(args);
    return { out, command: recordProgram.args.length > 0 ? recordProgram.args : ["npm", "run", "demo"] };
}, record);
