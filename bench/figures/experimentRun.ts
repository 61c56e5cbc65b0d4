import type { EngineEvent } from "@pulumi/pulumi/automation";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BorrowedStack } from "../../cli/stack";
import type { Conclusion, Journal } from "../../experiments/journal";
import { discardFailedRun } from "../experimentRounds";
import { describeSamples, type Figure, median } from "../figure";
import { type Session, windowSeconds } from "../session";
import { project } from "../stack";
import { secondsSince, timed } from "../time";

const rounds = 5;

/** One run, in seconds. */
interface Run {
    /** The update that enables the experiment, the check's window subtracted. */
    enable: number;
    /** The update that disables it. */
    disable: number;
    /** What of both it waited for the cluster. */
    waits: { witness: number; proofs: number; recovery: number };
}

export function experimentRun(session: Session): Figure {
    return {
        name: "experiment-run",
        meaning: `what both updates of npm run experiment take, the one that enables and the one that disables, beyond the check's window of ${windowSeconds} s and the waits for the witness to watch, the attack to be proven, and the shop to recover`,
        bar: 5,
        unit: "s",
        async measure() {
            const shop = await session.borrowedShop();
            const runs: Run[] = [];
            try {
                for (let round = 1; round <= rounds; round++) {
                    const run = await measureRun(shop);
                    session.say(
                        `round ${round} of ${rounds}: enabled in ${run.enable.toFixed(1)} s, disabled in ${run.disable.toFixed(1)} s, ${waitOf(run).toFixed(1)} s of it waits`,
                    );
                    runs.push(run);
                }
            } finally {
                shop.close();
            }
            const samples = {
                enable: runs.map(({ enable }) => enable),
                disable: runs.map(({ disable }) => disable),
                waits: runs.map(waitOf),
            };
            const eachWait = (["witness", "proofs", "recovery"] as const).map(
                (wait) => `${wait} ${median(runs.map(({ waits }) => waits[wait])).toFixed(2)} s`,
            );
            return {
                value: median(runs.map((run) => run.enable + run.disable - waitOf(run))),
                made: `enabling ${describeSamples(samples.enable)}, disabling ${describeSamples(samples.disable)}, waits ${describeSamples(samples.waits)}: ${eachWait.join(", ")}`,
                samples,
            };
        },
    };
}

const waitOf = ({ waits: { witness, proofs, recovery } }: Run) => witness + proofs + recovery;

async function measureRun(shop: BorrowedStack): Promise<Run> {
    const witness = witnessWait();
    const enable = await update(shop, "true", witness.onEvent);
    const conclusion = (await shop.outputs()).experiment!.value as Conclusion;
    const disable = await update(shop, "false", () => undefined);
    const { startedAt, endedAt, recovery } = JSON.parse(
        readFileSync(join(project, conclusion.journal), "utf8"),
    ) as Journal;
    discardFailedRun(conclusion);
    return {
        enable: enable - windowSeconds,
        disable,
        waits: {
            witness: witness.seconds(),
            proofs: (endedAt - startedAt) / 1_000 - windowSeconds,
            recovery: recovery!.recoveredAfterMs / 1_000,
        },
    };
}

async function update(
    shop: BorrowedStack,
    enabled: "true" | "false",
    onEvent: (event: EngineEvent) => void,
): Promise<number> {
    shop.set({ "experiment.enabled": enabled });
    return timed(() => shop.up(onEvent));
}

/** How long the step that marks the targets waited for the deadline's Job to watch them: from when it says whom it chose. */
function witnessWait() {
    let chosenAt = Number.NaN;
    let seconds = Number.NaN;
    const onEvent = ({ diagnosticEvent, resOutputsEvent }: EngineEvent) => {
        if (diagnosticEvent?.message.includes("Targets: ")) chosenAt = performance.now();
        if (resOutputsEvent?.metadata.urn.endsWith("::targets")) seconds = secondsSince(chosenAt);
    };
    return { onEvent, seconds: () => seconds };
}
