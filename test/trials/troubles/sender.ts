import { setTimeout as sleep } from "node:timers/promises";
import type { Trouble } from "../kind";
import { between } from "../random";
import { processesOfStep } from "./processes";

/** More than a request may be late, and so short that the run does not miss reports of its Job, in milliseconds. */
const stalledMs = { least: 2_000, most: 3_500 };

/** Stops the process that sends the check's requests, as a machine does it that has too little memory or CPU. */
export const senderStalled: Trouble = async ({ stack, random, moment, afterwards }) => {
    const forMs = between(random, stalledMs.least, stalledMs.most);
    await moment({ afterGrace: true, leaveMs: forMs });
    const pids = processesOfStep("check", stack.namespace);
    if (pids.length === 0) throw new Error(`no process checks the experiment of ${stack.namespace}`);
    const signal = (name: NodeJS.Signals) => pids.forEach((pid) => process.kill(pid, name));
    let isStopped = true;
    const goOn = async () => {
        if (isStopped) signal("SIGCONT");
        isStopped = false;
    };
    afterwards(goOn);
    signal("SIGSTOP");
    await sleep(forMs);
    await goOn();
    return { saw: `stopped the check for ${(forMs / 1_000).toFixed(1)} s` };
};
