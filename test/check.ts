/**
 * `npm run check`: runs each `check:…` script of package.json, two at a time, and prints what the failed ones report.
 */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { scripts } from "../package.json";

export interface CheckResult {
    /** Of the script, such as `check:lint`. */
    name: string;
    passed: boolean;
}

const project = join(__dirname, "..");

/** Runs all checks, even after one has failed. */
export async function runChecks(): Promise<CheckResult[]> {
    const waiting = Object.entries(scripts).filter(([name]) => name.startsWith("check:"));
    const results: CheckResult[] = [];
    const runWaiting = async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) results.push(await runCheck(...next));
    };
    await Promise.all([runWaiting(), runWaiting()]);
    return results;
}

function runCheck(name: string, command: string): Promise<CheckResult> {
    const started = Date.now();
    const env = { ...process.env, PATH: [join(project, "node_modules", ".bin"), process.env.PATH].join(delimiter) };
    const child = spawn(command, { shell: true, cwd: project, env });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
    return new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (code) => {
            const passed = code === 0;
            const seconds = ((Date.now() - started) / 1000).toFixed(1);
            console.log(`${passed ? "passed" : "FAILED"}  ${name} (${seconds} s)`);
            if (!passed) console.log(`\n${output.join("").trim()}\n`);
            resolve({ name, passed });
        });
    });
}

async function main(): Promise<void> {
    const failed = (await runChecks()).filter(({ passed }) => !passed).map(({ name }) => name);
    if (failed.length === 0) return;
    console.log(`\n${failed.length} failed: ${failed.join(", ")}`);
    process.exitCode = 1;
}

if (require.main === module) void main();
