import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** Answers as Prometheus does, over HTTP, or over TLS with the files of a key and a certificate. Prints its port. */
const program = `
    const { readFileSync } = require("node:fs");
    const [key, cert] = process.argv.slice(1).map((file) => readFileSync(file));
    const value = JSON.stringify({ status: "success", data: { resultType: "scalar", result: [1, "1"] } });
    const answer = (_, response) => response.setHeader("content-type", "application/json").end(value);
    const server = key
        ? require("node:https").createServer({ key, cert }, answer)
        : require("node:http").createServer(answer);
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(server.address().port));
`;

/**
 * Starts a server at 127.0.0.1, until the end of the test, that completes no handshake until it may: its process is
 * stopped, and its queue is full. Linux then drops a SYN, and sends it again after a second.
 */
export async function slowServer(...tlsFiles: string[]): Promise<{ port: number; goOn: () => void }> {
    const server = spawn(process.execPath, ["--eval", program, ...tlsFiles], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void server.kill("SIGKILL"));
    const [printed] = (await once(server.stdout, "data")) as [Buffer];
    const port = Number(printed);
    server.kill("SIGSTOP");
    for (let waiting = 0; waiting < 4; waiting++) {
        const queued = connect(port, "127.0.0.1").on("error", () => undefined);
        onTestFinished(() => void queued.destroy());
    }
    await sleep(100);
    return { port, goOn: () => void server.kill("SIGCONT") };
}
