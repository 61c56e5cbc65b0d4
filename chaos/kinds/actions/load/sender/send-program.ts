/**
 * Runs in the pod of the action `load`: sends requests at fixed times, and writes to its log, line by line, what became
 * of them. It needs no rights in the cluster. It ends `lingersMs` after SIGTERM: to delete the pod ends the load.
 * Beside k6, it writes what k6 reports instead.
 */
import { createServer } from "node:http";
import { watchStalls } from "../../../checks/stalls";
import { exchanger } from "./exchange";
import { k6Port, K6Samples } from "./k6-samples";
import { openLoop } from "./open-loop";
import type { SecondLine } from "./second-line";
import { lingersMs, type SenderEnvironment, type SenderSettings } from "./settings";
import { Seconds } from "./seconds";

// The kubelet keeps the end of the log. By default, Node.js would end it with its version.
process.once("uncaughtException", ({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exit(1);
});

const write = (line: SecondLine) => process.stdout.write(`${JSON.stringify(line)}\n`);
const { LOAD: load } = process.env as unknown as SenderEnvironment;
const stop = load === undefined ? receive() : send(JSON.parse(load) as SenderSettings);

process.once("SIGTERM", () => {
    setTimeout(() => {
        stop();
        process.exit(0);
    }, lingersMs);
});

function send(settings: SenderSettings): () => void {
    const { perSecond, connections, limitsMs } = settings;
    const exchange = exchanger(settings, process.env);
    const seconds = new Seconds(Date.now(), perSecond, limitsMs, write);
    let waiting = 0;
    watchStalls();
    return openLoop(
        perSecond,
        (index, dueAt) => {
            if (waiting >= connections) return seconds.unsent(index, "busy");
            waiting++;
            const became = seconds.sent(index);
            exchange(dueAt, (it) => {
                waiting--;
                became(it);
            });
        },
        (index) => seconds.unsent(index, "late"),
    );
}

function receive(): () => void {
    const samples = new K6Samples(write);
    const server = createServer((request, answer) => {
        const parts: Buffer[] = [];
        request.on("data", (part: Buffer) => parts.push(part));
        request.on("end", () => {
            samples.take(Buffer.concat(parts).toString());
            answer.writeHead(204).end();
        });
    });
    server.listen(k6Port, "127.0.0.1");
    return () => server.close();
}
