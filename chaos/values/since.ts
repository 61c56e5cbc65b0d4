import { describeMilliseconds } from "./duration";

/** Such as `1.4 s after the attack was proven`, or `never`. */
export function sinceAttack(milliseconds: number | null, underAttack = true): string {
    if (milliseconds === null) return "never";
    return `${describeMilliseconds(milliseconds)} after the ${underAttack ? "attack was proven" : "checks began"}`;
}

/** Such as `1.4 s after the attack was undone`. */
export function sinceUndone({ recoveredAfterMs }: { recoveredAfterMs: number }, underAttack = true): string {
    return `${describeMilliseconds(recoveredAfterMs)} after the ${underAttack ? "attack" : "run"} was undone`;
}
