import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fileBackend, pulumiEnvironment, requireNoOtherCheckout } from "../../../toolchain/pulumi/environment";
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
    releaseStaleLocks("local", { PULUMI_HOME: "/other", PULUMI_CREDENTIALS_PATH: "/other" });
    expect(existsSync(file)).toBe(true);
    const empty = { PULUMI_BACKEND_URL: "", PULUMI_CREDENTIALS_PATH: "" };
    releaseStaleLocks("local", { PULUMI_HOME: backend, ...empty });
    expect(existsSync(file)).toBe(false);
});

it("a login is where PULUMI_CREDENTIALS_PATH says, before PULUMI_HOME", () => {
    writeFileSync(join(backend, "credentials.json"), JSON.stringify({ current: "s3://team" }));
    const login = { PULUMI_CREDENTIALS_PATH: backend, PULUMI_HOME: "/other" };
    expect(pulumiEnvironment(backend, login)).not.toHaveProperty("PULUMI_BACKEND_URL");
    expect(pulumiEnvironment(backend, { PULUMI_HOME: "/other" })).toHaveProperty("PULUMI_BACKEND_URL");
    expect(pulumiEnvironment(backend, { PULUMI_HOME: "/other", PULUMI_BACKEND_URL: "" })).toHaveProperty(
        "PULUMI_BACKEND_URL",
    );
});

it("the backend of another checkout, as its shell commands have set it, is not this one's", () => {
    const here = backend;
    const there = {
        PULUMI_BACKEND_URL: fileBackend("/other"),
        PULUMI_CONFIG_PASSPHRASE_FILE: "/other/.pulumi/passphrase",
    };
    const own = {
        PULUMI_BACKEND_URL: fileBackend(here),
        PULUMI_CONFIG_PASSPHRASE_FILE: join(here, ".pulumi", "passphrase"),
    };
    expect(pulumiEnvironment(here, there)).toMatchObject(own);
    expect(() => requireNoOtherCheckout(here, there)).toThrow(
        /another checkout, \/other,[^]*\n  export PULUMI_BACKEND_URL=/,
    );
    expect(() => requireNoOtherCheckout(here, own)).not.toThrow();
    // Somebody's choice, with a passphrase of theirs.
    const chosen = { ...there, PULUMI_CONFIG_PASSPHRASE_FILE: "/secrets/passphrase" };
    expect(pulumiEnvironment(here, chosen)).not.toHaveProperty("PULUMI_BACKEND_URL");
    expect(() => requireNoOtherCheckout(here, chosen)).not.toThrow();
});

it("a backend's folder may be given relative to the home folder", async () => {
    const file = lock({ pid: await killed() });
    vi.stubEnv("HOME", backend);
    releaseStaleLocks("local", environment("file://~"));
    vi.unstubAllEnvs();
    expect(existsSync(file)).toBe(false);
});
