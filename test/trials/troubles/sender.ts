import { setTimeout as sleep } from "node:timers/promises";
import type { Trouble } from "../kind";
import { between } from "../random";
import { processesOfStep } from "./processes";

/** Stops the process that sends the check's requests, as a machine does it that has too little memory or CPU. */
const stopped =
    (times: number, stopMs: { least: number; most: number }): Trouble =>
    async ({ stack, random, moment, afterwards }) => {
        const stops = Array.from({ length: times }, () => between(random, stopMs.least, stopMs.most));
        const leaveMs = stops.reduce((sum, ms) => sum + ms, (times - 1) * pauseMs);
        await moment({ afterGrace: true, leaveMs });
        const pids = processesOfStep("check", stack.namespace);
        if (pids.length === 0) throw new Error(`no process checks the experiment of ${stack.namespace}`);
        const signal = (name: NodeJS.Signals) => pids.forEach((pid) => process.kill(pid, name));
        let isStopped = false;
        const goOn = async () => {
            if (isStopped) signal("SIGCONT");
            isStopped = false;
        };
        afterwards(goOn);
        for (const [index, ms] of stops.entries()) {
            if (index > 0) await sleep(pauseMs);
            isStopped = true;
            signal("SIGSTOP");
            await sleep(ms);
            await goOn();
        }
        return { saw: `stopped the check for ${stops.map((ms) => `${(ms / 1_000).toFixed(1)} s`).join(" and ")}` };
    };

const pauseMs = 400;

/** More than a request may be late, and so short that the run does not miss reports of its Job. */
export const senderStalled = stopped(1, { least: 2_000, most: 3_500 });

/** No more than a request may be late. */
export const senderStalledBriefly = stopped(2, { least: 200, most: 900 });
