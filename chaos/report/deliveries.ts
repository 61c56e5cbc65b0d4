import { deliveredShare, type Delivery, type RequiredShare } from "../kinds/actions/beside";
import { boundOf, describeShown } from "../kinds/checks/confidence";
import { describeMilliseconds } from "../values/duration";
import { reason, type Reason } from "../values/reasons";
import { wordOf } from "../values/quoted";
import { describeShare, percentOf, reaches } from "../values/share";
import type { Judged } from "./judged-check";

/** Whether so much of a load was sent on time that it was the one that was to be sent. */
export const isDelivered = ({ sent, due }: Pick<Delivery, "sent" | "due">): boolean =>
    reaches(deliveredShare, sent, due);

const failedIn = (unsent: Delivery["unsent"]) => Object.values(unsent).reduce((sum, one) => sum + one, 0);

/** How much of a load was sent on time, and why not more. */
export function describeSent({ name, due, sent, busy, unsent, unreported, problem }: Delivery): string {
    const late = due - sent - busy - failedIn(unsent) - unreported;
    const lacks = [
        busy > 0 ? `${busy} were not, since all its connections or VUs waited for answers` : "",
        ...Object.entries(unsent).map(
            ([why, requests]) => `${requests} were not, since its pod could not connect (${wordOf(why)})`,
        ),
        late > 0 ? `${late} were not, since the sender was too late` : "",
        unreported > 0 ? `of ${unreported} nothing was reported` : "",
        problem ?? "",
    ];
    const told = `${percentOf(sent, due)} of ${due} requests of ${name} were sent on time`;
    return [told, ...lacks].filter(Boolean).join("; ");
}

/** What to do if a load is not delivered. */
export const adviceOnSent = ({ due, sent, busy, unsent, unreported }: Delivery): string =>
    unreported * 2 > due - sent
        ? "See why its pod did not go on. A script of k6 must last longer than the run"
        : busy * 2 > due - sent
          ? "Allow more `connections`, or `maxVUs` of k6, than wait for answers, send less, or make the answers faster"
          : failedIn(unsent) * 2 > due - sent
            ? "Correct the load's `url`, or the DNS, the network or the limits of its pod"
            : "Send fewer requests `perSecond`, or give the load's pod a node that is less busy (pod.nodeSelector)";

/** What became of a load, for people. */
export function describeDelivery(delivery: Delivery): string {
    const { due, good, bad, latencyMs } = delivery;
    const problems = Object.entries(bad)
        .sort(([, a], [, b]) => b - a)
        .map(([what, answers]) => `${answers} × ${what}`);
    return [
        describeSent(delivery),
        `${percentOf(good, due)} succeeded`,
        ...(problems.length > 0 ? [problems.slice(0, 3).join(", ")] : []),
        ...(latencyMs ? [describeLatencies(latencyMs)] : []),
    ].join("; ");
}

const describeLatencies = ({ p50, p95, p99 }: NonNullable<Delivery["latencyMs"]>): string =>
    Object.entries({ p50, p95, p99 })
        .map(([name, ms]) => `${name} ${describeMilliseconds(ms)}`)
        .join(", ");

const holds = ({ required, met }: RequiredShare, due: number) => reaches(required, met, due);

/** Whether it fails even if all requests of which that is not known have met it. */
const fails = ({ required, met, unknown }: RequiredShare, due: number) => !reaches(required, met + unknown, due);

/** Such as ` (required: 99%; 95% confidence: at least 99.1%)`. */
function describeRequired(share: RequiredShare, due: number): string {
    const { required, met, unknown } = share;
    const bound = boundOf({ good: met, unseen: unknown, counted: due }, holds(share, due));
    return ` (required: ${describeShare(required)}; ${describeShown(bound)})`;
}

/** Such as `99.4% within 300 ms (required: 99%; 95% confidence: at least 99.1%)`. */
function describeMet(share: RequiredShare, due: number): string {
    const { withinMs, met } = share;
    const how = withinMs === undefined ? "succeeded" : `within ${describeMilliseconds(withinMs)}`;
    return `${percentOf(met, due)} ${how}${describeRequired(share, due)}`;
}

/**
 * Judges a load as a check: by the shares of its requests that are required. What was not sent, or of which the answer
 * was not seen, decides nothing: it fails only if the others are too few even with these, and holds only without.
 */
export function judgeDelivery(delivery: Delivery, underAttack = true): Judged {
    const { name, due, sent, good, unseen, shares, seconds } = delivery;
    const measured = { requests: due, counted: due, good, unseen: due - sent + unseen };
    const when = underAttack ? "under attack" : "without an attack";
    const rate = shares.find(({ of }) => of === "successRate");
    const worst = Object.entries(delivery.bad).sort(([, a], [, b]) => b - a)[0];
    const text = [
        `${percentOf(good, due)} of ${due} requests of ${name} succeeded ${when}` +
            (rate ? describeRequired(rate, due) : ""),
        ...shares.filter((share) => share !== rate).map((share) => describeMet(share, due)),
        ...(delivery.latencyMs ? [describeLatencies(delivery.latencyMs)] : []),
        `${percentOf(sent, due)} were sent on time`,
    ].join("; ");
    const judged = { name, measured, changes: [] };
    const open = (why: Reason): Judged => ({ ...judged, held: false, reason: text, inconclusive: why });
    if (due === 0)
        return open(
            reason("too-few-answers", `${name} has no request in a whole second that counts; make the window longer`),
        );
    const bound = rate && boundOf({ good: rate.met, unseen: rate.unknown, counted: due }, holds(rate, due));
    if (shares.some((share) => fails(share, due)))
        return { ...judged, held: false, bound, reason: worst ? `${text}; most failures: ${worst[0]}` : text };
    if (!isDelivered(delivery)) {
        const during = `${describeSent(delivery)} in ${seconds} s (required: ${describeShare(deliveredShare)})`;
        return open(reason("load-not-delivered", `${during}. ${adviceOnSent(delivery)}`));
    }
    const undecided = shares.find((share) => !holds(share, due));
    if (undecided === undefined) return { ...judged, held: true, bound, reason: `${text}.` };
    return open(
        reason(
            "load-not-delivered",
            `${describeSent(delivery)}, which leaves open what was required: ${describeMet(undecided, due)}`,
        ),
    );
}
