import { complete } from "./complete";
import type { Course, Kind } from "./kind";
import { passed } from "./right-verdicts";
import type { Shop } from "./shop";

const companion: Kind = {
    name: "companion",
    meaning: "one of three replicas is attacked, beside another stack",
    shape: { hotDeals: 3, gateway: "LoadBalancer" },
    allowed: passed,
};

/** Two stacks run an experiment at once, each in its namespace, with different verdicts. A third is refused. */
export const besideAnother: Course = async (shop, kind, trial) => {
    const other = await trial.anotherShop(companion.shape);
    const refused = await refusal(shop);
    const [first, second] = await Promise.all([
        complete(shop, kind, trial),
        complete(other, companion, { ...trial, kind: companion.name }),
    ]);
    return {
        ...first,
        saw: `the other stack: ${second.outcome}`,
        problems: [
            ...refused,
            ...first.problems,
            ...second.problems.map((problem) => `of the other stack: ${problem}`),
        ],
        leftovers: [...first.leftovers, ...second.leftovers],
        journals: [...first.journals, ...second.journals],
    };
};

/** Why a third stack was not refused that would use the shop's namespace. */
async function refusal({ stack }: Shop): Promise<string[]> {
    const third = await stack.beside("trials-third");
    try {
        const error = await third.failingUp({ namespace: stack.namespace });
        return /belongs to stack/.test(error) ? [] : [`a third stack was refused for another reason: ${error}`];
    } catch {
        return ["a third stack could use the first one's namespace"];
    } finally {
        await third.close();
    }
}
