import { type Attack, beginMsOf } from "../kinds/attacks/registry";
import type { PlannedCheck } from "../kinds/checks/observe";
import { parseDuration, times } from "../values/duration";
import { enforcementTimeoutMs } from "../policies/enforcement";

/** Beyond what a run needs: for a proxy's image that must be pulled, a slow backend of Pulumi, and the last proof. */
const spareMs = 60_000;
/**
 * Without attacks, a deadline counts from the taking of the lease: the Job's pod may take 2 min to start, and the
 * baseline comes before that. Attacks begin after it, and their deadline with them.
 */
const preparationMs = 180_000;

/** The default deadline of attacks that stay until they are disabled, in milliseconds. */
export const stayingMs = parseDuration(times.deadline.usual)!;

/**
 * The default deadline of attacks that end with the verdict, in milliseconds: what the run needs at most, and a minute.
 * A network may take its time to enforce the attacks, and once more to let through what they spare. If the update is
 * killed, the attacks last no longer than that.
 */
export function usualDeadlineMs(
    attacks: readonly { attack: Attack }[],
    checks: readonly Pick<PlannedCheck, "timeoutMs">[],
    { graceMs, durationMs, baselineMs = 0 }: { graceMs: number; durationMs: number; baselineMs?: number },
): number {
    const beginMs =
        attacks.length === 0
            ? preparationMs + baselineMs
            : beginMsOf(attacks.map(({ attack }) => attack)) + 2 * enforcementTimeoutMs;
    return beginMs + graceMs + durationMs + Math.max(0, ...checks.map(({ timeoutMs }) => timeoutMs)) + spareMs;
}
