// Who calls whom in the shop, and how that goes, from what the programs count. A reading is the `calls` of the gateway
// /status: counters since each pod's start, as Prometheus reads them. Two readings of a pod make a rate.

/** The page announces them with the listing. */
const DEPARTMENTS = ["fashion-bestseller", "toys-bestseller", "hot-deals"];
export const isDepartment = (name) => DEPARTMENTS.includes(name);

/** Caller and callee. A unit test compares them with the shop's NetworkPolicies. */
const FOUR = [...DEPARTMENTS.map((name) => ["gateway", name]), ...DEPARTMENTS.map((name) => [name, "database"])];
const SEVEN = [
    ["gateway", "orders"],
    ["orders", "database"],
    ["orders", "message-broker"],
    ["inventory", "database"],
    ["inventory", "message-broker"],
];
export const edgesOf = (variant) => (variant === "seven" ? [...FOUR, ...SEVEN] : FOUR);

/** Places in the picture: how far from the gateway, and which one of those. A unit test wants one for each. */
export const PLACES = {
    gateway: [0, "middle"],
    "fashion-bestseller": [1, 0],
    "toys-bestseller": [1, 1],
    "hot-deals": [1, 2],
    orders: [1, 3],
    database: [2, 1],
    "message-broker": [2, 3],
    inventory: [3, 2],
};

const WINDOW_MS = 10_000;

/**
 * The readings of the last seconds by pod, with those of another answer. After a restart, counters begin again, and so
 * do the readings. A pod that is missing in the answer has no readings any more: how its calls go is not known. Except
 * for a gateway: if there are several, each answers with its own calls only, and with what it has read of the others
 * before, which may be older than what another gateway has answered. Much older: its clock was set back.
 */
export function withReading(readings, calls) {
    const answered = calls.map((now) => {
        const before = readings[now.pod] ?? [];
        const last = before.at(-1);
        if (last?.atMs >= now.atMs && last.atMs - now.atMs <= WINDOW_MS) return [now.pod, before];
        return [now.pod, [...(hasRestarted(last, now) ? [] : recent(before, now.atMs)), now]];
    });
    const gateway = calls.find(isGateway);
    if (gateway === undefined) return Object.fromEntries(answered);
    const others = Object.entries(readings)
        .filter(([, [first]]) => isGateway(first))
        .map(([pod, before]) => [pod, recent(before, gateway.atMs)])
        .filter(([, kept]) => kept.length > 0);
    return Object.fromEntries([...others, ...answered]);
}

const isGateway = ({ workload }) => workload === "gateway";
const recent = (readings, nowMs) => readings.filter(({ atMs }) => Math.abs(nowMs - atMs) <= WINDOW_MS);

const countOf = (reading, to) => reading.calls.find((count) => count.to === to) ?? NONE;
const NONE = { answered: 0, failed: 0, seconds: 0 };
const allOf = ({ answered, failed }) => answered + failed;

const isLess = (now, before) => Object.keys(NONE).some((member) => now[member] < before[member]);
const hasRestarted = (last, now) => last?.calls.some((count) => isLess(countOf(now, count.to), count)) ?? false;

/**
 * How the calls of all pods of a workload to another one go: `state` is `up`, `failing`, `idle`, or `unknown` if no pod
 * has two readings. `perSecond`, the mean `latencyMs` of those answered and the `failedShare` are undefined without
 * calls, or without answers.
 */
export function callsOf(readings, [from, to]) {
    const pods = Object.values(readings).filter((those) => those.length > 1 && those[0].workload === from);
    if (pods.length === 0) return { from, to, state: "unknown" };
    const [sums, perSecond] = [{ ...NONE }, { value: 0 }];
    for (const those of pods) {
        const [first, last] = [those[0], those.at(-1)];
        const [before, now] = [countOf(first, to), countOf(last, to)];
        for (const member of Object.keys(NONE)) sums[member] += now[member] - before[member];
        perSecond.value += (allOf(now) - allOf(before)) / ((last.atMs - first.atMs) / 1_000);
    }
    if (allOf(sums) === 0) return { from, to, state: "idle" };
    return {
        ...{ from, to, state: sums.failed > 0 ? "failing" : "up" },
        perSecond: perSecond.value,
        failedShare: sums.failed / allOf(sums),
        ...(sums.answered > 0 && { latencyMs: (sums.seconds / sums.answered) * 1_000 }),
    };
}

/** "1.2/s", "not known": how often. */
export const rateText = ({ state, perSecond }) =>
    ({ unknown: "not known", idle: "none" })[state] ?? `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;

export function latencyText({ latencyMs }) {
    if (latencyMs === undefined) return "";
    return latencyMs < 1_000
        ? `${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`
        : seconds(latencyMs);
}
const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;

/** "40%": never 0% or 100% unless it is that. */
export function failedText({ failedShare }) {
    if (failedShare === undefined) return "";
    const percent = Math.round(failedShare * 100);
    return `${failedShare === 1 ? 100 : failedShare === 0 ? 0 : Math.min(Math.max(percent, 1), 99)}%`;
}

/** What all calls say together. Without shares, to change only when something begins or ends: it is read aloud. */
export function sentenceOf(all) {
    const failing = all.filter(({ state }) => state === "failing").map(({ from, to }) => `${from} to ${to}`);
    if (failing.length > 0) return `Failing: ${failing.join(", ")}.`;
    return all.every(({ state }) => state === "unknown") ? "How calls go is not known." : "No known call fails.";
}
