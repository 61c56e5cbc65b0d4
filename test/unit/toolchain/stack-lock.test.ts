import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { releaseStaleLocks } from "../../../toolchain/stack-lock";

let backend: string;
let update: ChildProcess;
beforeEach(() => {
    backend = mkdtempSync(join(tmpdir(), "chaos-shop-locks-"));
    update = spawn("sleep", ["60"], { stdio: "ignore" });
});
afterEach(() => {
    update.kill("SIGKILL");
    rmSync(backend, { recursive: true });
});

/** A lock as Pulumi's file backend keeps it. */
function lock(holder: { pid: number; hostname?: string }, stack = "local"): string {
    const folder = join(backend, ".pulumi", "locks", "organization", "chaos-shop", stack);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${holder.pid}-${holder.hostname ?? "here"}.json`);
    writeFileSync(
        file,
        JSON.stringify({ username: "somebody", hostname: hostname(), timestamp: new Date(), ...holder }),
    );
    return file;
}

const environment = (url = `file://${backend}?metadata=skip`) => ({ PULUMI_BACKEND_URL: url });

async function killed(): Promise<number> {
    const ended = new Promise((resolve) => update.once("exit", resolve));
    update.kill("SIGKILL");
    await ended;
    return update.pid!;
}

it("a lock is released only once its process is gone", async () => {
    const file = lock({ pid: update.pid! });
    releaseStaleLocks("local", environment());
    expect(existsSync(file)).toBe(true);
    await killed();
    releaseStaleLocks("local", environment());
    expect(existsSync(file)).toBe(false);
});

it("a lock of another machine is left alone", async () => {
    const file = lock({ pid: await killed(), hostname: `not-${hostname()}` });
    releaseStaleLocks("local", environment());
    expect(existsSync(file)).toBe(true);
});

it("an incomplete lock is left alone", () => {
    const file = lock({ pid: 1 });
    writeFileSync(file, "");
    releaseStaleLocks("local", environment());
    expect(existsSync(file)).toBe(true);
});

it("the backend is that of the login if the environment names none", async () => {
    const file = lock({ pid: await killed() });
    writeFileSync(join(backend, "credentials.json"), JSON.stringify({ current: `file://${backend}` }));
    releaseStaleLocks("local", { PULUMI_HOME: backend, ...environment("https://example.com") });
    expect(existsSync(file)).toBe(true);
    releaseStaleLocks("local", { PULUMI_HOME: backend });
    expect(existsSync(file)).toBe(false);
});

it("a backend's folder may be given relative to the home folder", async () => {
    const file = lock({ pid: await killed() });
    vi.stubEnv("HOME", backend);
    releaseStaleLocks("local", environment("file://~"));
    vi.unstubAllEnvs();
    expect(existsSync(file)).toBe(false);
});
