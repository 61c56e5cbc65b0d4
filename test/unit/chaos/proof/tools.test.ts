import { spawn, spawnSync } from "node:child_process";
import { type AddressInfo, createServer, type Server } from "node:net";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { addressesIn, commandFor, noTool, searchFor } from "../../../../chaos/proof/tools";

let server: Server;
let port: number;
beforeAll(async () => {
    server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

/** Runs a command on this machine. @returns its exit code */
const run = ([program, ...args]: string[], PATH = process.env.PATH): Promise<number | null> =>
    new Promise((resolve) => {
        spawn(program!.replace(/^sh$/, "/bin/sh"), args, { env: { PATH }, stdio: "ignore" })
            .on("error", () => resolve(-1))
            .on("close", resolve);
    });
const there = (program: string) => spawnSync(program, ["--version"]).error === undefined;

describe("a container's shell", () => {
    it("finds a tool, and tries a connection with it", async () => {
        expect(await run(searchFor(["connect", "resolve"]))).toBe(0);
        expect(await run(commandFor({ connect: { host: "127.0.0.1", port } }, 2_000))).toBe(0);
        expect(await run(commandFor({ connect: { host: "127.0.0.1", port: 1 } }, 2_000))).not.toBe(0);
    });

    it("says that it has none", async () => {
        for (const kind of ["connect", "lookup", "resolve"] as const)
            expect(await run(searchFor([kind]), "/nonexistent")).toBe(noTool);
        expect(await run(commandFor({ lookup: "localhost" }, 2_000), "/nonexistent")).toBe(noTool);
    });

    it("uses the first tool that is there", async () => {
        const onlyNode = dirname(process.execPath);
        expect(await run(commandFor({ connect: { host: "127.0.0.1", port } }, 2_000), onlyNode)).toBe(0);
    });
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ address }) => address === "::1"));

it.skipIf(!hasIpv6)("each tool that this machine has tries connections over IPv6, too", async () => {
    const far = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => far.listen(0, "::1", resolve));
    onTestFinished(() => void far.close());
    const question = { connect: { host: "::1", port: (far.address() as AddressInfo).port } };
    for (const program of [undefined, process.execPath, "python3"].filter((one) => one === undefined || there(one)))
        expect([program, await run(commandFor(question, 5_000, program))]).toEqual([program, 0]);
    if (!there("perl")) return;
    const onlyPerl = mkdtempSync(join(tmpdir(), "chaos-tool-"));
    onTestFinished(() => rmSync(onlyPerl, { recursive: true }));
    symlinkSync(spawnSync("sh", ["-c", "command -v perl"], { encoding: "utf8" }).stdout.trim(), join(onlyPerl, "perl"));
    expect(await run(commandFor(question, 5_000), onlyPerl)).toBe(0);
});

it.each([undefined, process.execPath, "python3"])("%s prints all addresses of a name", (program) => {
    if (program !== undefined && !there(program)) return;
    const [command, ...args] = commandFor({ resolve: "localhost" }, 5_000, program);
    const { stdout, status } = spawnSync(command!, args, { encoding: "utf8" });
    expect([status, addressesIn(stdout).filter((one) => ["127.0.0.1", "::1"].includes(one)).length > 0]).toEqual([
        0,
        true,
    ]);
});

it("the addresses of a name are found in what any tool prints", () => {
    const printed =
        "2001:db8::7     STREAM api.example.com\n203.0.113.7 DGRAM \n203.0.113.7 RAW\n::ffff:203.0.113.8 api\n";
    expect(addressesIn(printed)).toEqual(["2001:db8::7", "203.0.113.7", "203.0.113.8"]);
});

describe.each([process.execPath, "python3"])("%s, run without a shell,", (program) => {
    it.skipIf(!there(program))("is found, and tries connections and lookups", async () => {
        expect(await run(searchFor(["connect"], program))).toBe(0);
        expect(await run(commandFor({ connect: { host: "127.0.0.1", port } }, 2_000, program))).toBe(0);
        expect(await run(commandFor({ connect: { host: "127.0.0.1", port: 1 } }, 2_000, program))).not.toBe(0);
        expect(await run(commandFor({ lookup: "localhost" }, 5_000, program))).toBe(0);
        expect(await run(commandFor({ lookup: "no.such.name.invalid" }, 2_000, program))).not.toBe(0);
    });
});
