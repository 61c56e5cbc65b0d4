import type { RunAttack } from "../definition/plan";
import type { Conclusion } from "./conclusion";

type Unproven = NonNullable<Conclusion["outwardUnproven"]>;

/** The pods of which it is not proven that they reach nobody: nothing can be tried in them, which is accepted. */
export const unprovenOutward = (attacks: readonly RunAttack[]): Unproven =>
    attacks.flatMap(({ name: attack, chosen: { withoutTool: pods } }) => (pods ? [{ attack, pods }] : []));

/** What was not proven, in words. Undefined if all was. */
export function describeUnproven(unproven: Unproven = []): string | undefined {
    const pods = unproven.flatMap((one) => one.pods);
    return pods.length === 0 ? undefined : `outward was not proven: nothing could be tried in ${pods.join(", ")}`;
}

/** The reason of a verdict, and what it does not rest on. */
export function withUnproven(reason: string, unproven: Unproven): string {
    const told = describeUnproven(unproven);
    return told === undefined ? reason : `${reason.replace(/(?<![.!?])$/, ".")} ${told.replace("o", "O")}.`;
}
