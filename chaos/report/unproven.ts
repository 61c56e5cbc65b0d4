import type { Plan } from "../definition/plan";
import type { Chosen } from "../targets/choose";
import type { Conclusion } from "./conclusion";

type Unproven = NonNullable<Conclusion["outwardUnproven"]>;

/** The pods of which it is not proven that they reach nobody: they have no tool, and the experiment accepts that. */
export function unprovenOutward({ attacks }: Pick<Plan, "attacks">, chosen: readonly Chosen[]): Unproven {
    return attacks.flatMap(({ name }, index) => {
        const pods = chosen[index]?.withoutTool;
        return pods ? [{ attack: name, pods }] : [];
    });
}

/** What was not proven, in words. Undefined if all was. */
export function describeUnproven(unproven: Unproven = []): string | undefined {
    const pods = unproven.flatMap((one) => one.pods);
    return pods.length === 0 ? undefined : `outward was not proven: no tool in ${pods.join(", ")}`;
}

/** The reason of a verdict, and what it does not rest on. */
export function withUnproven(reason: string, unproven: Unproven): string {
    const told = describeUnproven(unproven);
    return told === undefined ? reason : `${reason.replace(/(?<![.!?])$/, ".")} ${told.replace("o", "O")}.`;
}
