import { setTimeout as sleep } from "node:timers/promises";
import type { Plan } from "../plan";
import type { Surroundings } from "./check";
import { type Checked, look } from "./look";

/** How many good answers in a row are asked for. */
export const wanted = 3;

/** What all checks were answered until each had settled; `unsettled` are those that did not within the time. */
export interface Settled {
    checks: Checked[];
    unsettled: Checked[];
}

/** Has every check look, all at once, until each got three good answers in a row. */
export async function settle(
    { checks }: Plan,
    around: Surroundings,
    patienceMs: number,
    pauseMs: number,
): Promise<Settled> {
    const giveUpAt = Date.now() + patienceMs;
    const settled = await Promise.all(
        checks.map(async (check) => {
            const checked: Checked = { name: check.name, answers: [] };
            for (let row = 0; row < wanted;) {
                const answer = await look(check, around);
                checked.answers.push(answer);
                row = answer.good ? row + 1 : 0;
                if (row < wanted && Date.now() > giveUpAt) return { checked, steady: false };
                if (row < wanted) await sleep(pauseMs);
            }
            return { checked, steady: true };
        }),
    );
    return {
        checks: settled.map(({ checked }) => checked),
        unsettled: settled.filter(({ steady }) => !steady).map(({ checked }) => checked),
    };
}

/** What kept checks from settling: the last problem of each. */
export function problemsOf(unsettled: readonly Checked[]): string {
    return unsettled
        .map(({ name, answers }) => `${name} ${answers.findLast(({ good }) => !good)?.problem ?? "fails now and then"}`)
        .join("; ");
}
