/**
 * Runs in the pod of the action `load`: sends requests at fixed times, and writes to its log, line by line, what became
 * of them. It needs no rights in the cluster. It ends `lingersMs` after SIGTERM: to delete the pod ends the load.
 */
import { watchStalls } from "../../../checks/stalls";
import { exchanger } from "./exchange";
import { openLoop } from "./open-loop";
import { lingersMs, type SenderEnvironment, type SenderSettings } from "./settings";
import { Seconds } from "./seconds";

// The kubelet keeps the end of the log. By default, Node.js would end it with its version.
process.once("uncaughtException", ({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exit(1);
});

const settings = JSON.parse((process.env as unknown as SenderEnvironment).LOAD) as SenderSettings;
const { perSecond, connections, limitsMs } = settings;

const send = exchanger(settings, process.env);
const seconds = new Seconds(Date.now(), perSecond, limitsMs, (line) =>
    process.stdout.write(`${JSON.stringify(line)}\n`),
);
let waiting = 0;

watchStalls();
const stop = openLoop(
    perSecond,
    (index, dueAt) => {
        if (waiting >= connections) return seconds.unsent(index, "busy");
        waiting++;
        const became = seconds.sent(index);
        send(dueAt, (it) => {
            waiting--;
            became(it);
        });
    },
    (index) => seconds.unsent(index, "late"),
);

process.once("SIGTERM", () => {
    setTimeout(() => {
        stop();
        process.exit(0);
    }, lingersMs);
});
