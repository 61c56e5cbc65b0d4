import type { EngineEvent } from "@pulumi/pulumi/automation";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { BorrowedStack } from "../../cli/stack";
import { project } from "../../cli/stack-file";
import type { Conclusion } from "../../chaos/report/conclusion";
import type { Journal } from "../../chaos/report/journal-schema";
import { type Figure, measureRounds, median } from "../figure";
import { windowSeconds } from "../session";
import { secondsSince, timed } from "../time";
import { requireFailed } from "./experiment-enable";

export const experimentRun: Figure = {
    name: "experiment-run",
    meaning:
        `time of both updates of npm run experiment, without the check's window of ${windowSeconds} s ` +
        "and the waits for the witness, the proof and the recovery",
    bar: 6,
    unit: "s",
    async measure(session) {
        const shop = await session.borrowedShop();
        try {
            const samples = await measureRounds(5, session, () => measureRun(shop));
            return { value: median(samples.work), samples };
        } finally {
            shop.close();
        }
    },
};

/**
 * One run, in seconds: `enable` and `disable` are the updates, without the check's window; `witness`, `proofs` and
 * `recovery` are their parts that wait for the cluster; `work` is the rest.
 */
async function measureRun(shop: BorrowedStack) {
    const witnessed = witnessWait();
    const enable = (await update(shop, "true", witnessed.onEvent)) - windowSeconds;
    const conclusion = (await shop.outputs()).experiment!.value as Conclusion;
    const disable = await update(shop, "false", () => undefined);
    const journal = JSON.parse(readFileSync(resolve(project, conclusion.journal), "utf8")) as Journal;
    requireFailed(conclusion);
    const witness = witnessed.seconds();
    const proofs = (journal.endedAt - journal.startedAt) / 1_000 - windowSeconds;
    const recovery = journal.recovery!.recoveredAfterMs / 1_000;
    return { work: enable + disable - witness - proofs - recovery, enable, disable, witness, proofs, recovery };
}

async function update(
    shop: BorrowedStack,
    enabled: "true" | "false",
    onEvent: (event: EngineEvent) => void,
): Promise<number> {
    shop.set({ "experiment.enabled": enabled });
    return timed(() => shop.up(onEvent));
}

/** Measures how long the step `targets` waits for the deadline Job: from when it names the targets to its end. */
function witnessWait() {
    let chosenAt = Number.NaN;
    let seconds = Number.NaN;
    const onEvent = ({ diagnosticEvent, resOutputsEvent }: EngineEvent) => {
        if (diagnosticEvent?.message.includes("Targets: ")) chosenAt = performance.now();
        if (resOutputsEvent?.metadata.urn.endsWith("-targets")) seconds = secondsSince(chosenAt);
    };
    return { onEvent, seconds: () => seconds };
}
