import * as z from "zod";

/** What an attack counts of the traffic to its targets. Probes do not count. */
export const countsSchema = z.object({
    requests: z.int().describe("Requests, and connections of what has none"),
    faulted: z.int().describe("Those that the attack has hit"),
    unfaultable: z.int().describe("Those that it was to hit and could not"),
    unmatched: z.int().optional().describe("Requests that the attack does not mean; absent if there are none"),
    ofChecks: z
        .int()
        .optional()
        .describe("Requests in traces that a check has begun, to targets or not; absent if there are none"),
    ofChecksFaulted: z.int().optional().describe("Those of them that the attack has hit; absent as `ofChecks` is"),
    throttled: z.int().optional().describe("Requests that its limit of bytes per second has slowed; absent if none"),
    cut: z.int().optional().describe("Requests that it has cut after some bytes; absent if there are none"),
    paused: z.int().optional().describe("Requests that it has passed on while its pulse was off; absent if none"),
    clients: z
        .int()
        .optional()
        .describe("Clients of which all `first` requests were hit, if it counts these for each; absent if none"),
    refused: z
        .int()
        .optional()
        .describe("Connections that it had to refuse, which it should have left alone; absent if there are none"),
});

export type Counts = z.infer<typeof countsSchema>;

/** What was counted since some moment. */
export interface Counted {
    counts: Counts;
    /** That moment, in a unit of the counter. Equal ones are the same moment. */
    since?: number;
}

/** What was counted between two moments. Undefined if that is not known: counting began again meanwhile. */
export function countedSince(before: Counted | undefined, now: Counted | undefined): Counts | undefined {
    if (before === undefined || now === undefined || before.since !== now.since) return undefined;
    const pairs = Object.entries(now.counts).map(([field, count]) => {
        return [field, count - (before.counts[field as keyof Counts] ?? 0)] as const;
    });
    const found = Object.fromEntries(pairs) as unknown as Counts;
    // A request counts when it begins: one from before may have been hit since, and is one of those, too.
    found.requests = Math.max(found.requests, found.faulted);
    found.ofChecks = Math.max(found.ofChecks ?? 0, found.ofChecksFaulted ?? 0);
    const always: readonly string[] = ["requests", "faulted", "unfaultable"];
    const isKept = ([field, count]: [string, number]) =>
        always.includes(field) || count > 0 || (field === "ofChecksFaulted" && found.ofChecks! > 0);
    return Object.fromEntries(Object.entries(found).filter(isKept)) as unknown as Counts;
}

/** How many requests an attack has hit, for the reason of a verdict; and if some of a check were among them. */
export function describeHits(name: string, { requests, faulted, ofChecks = 0, ofChecksFaulted = 0 }: Counts): string {
    const ofAll = `${faulted} of ${requests} requests of all callers`;
    return ofChecks > 0
        ? `${name} hit ${ofChecksFaulted} of ${ofChecks} requests that the checks caused, and ${ofAll}, in the window`
        : `${name} hit ${ofAll} in the window; whether one that a check caused was among them is not known`;
}

export function describeCounts({ requests, faulted, ...some }: Counts): string {
    const { throttled, cut, clients, paused, unmatched } = some;
    const parts = [
        throttled && `${throttled} slowed`,
        cut && `${cut} cut`,
        clients && `all first ones of ${clients === 1 ? "1 client" : `${clients} clients`}`,
        paused && `${paused} passed on while the pulse was off`,
        unmatched && `${unmatched} others did not match`,
    ];
    return [`${faulted} of ${requests} requests hit`, ...parts.filter(Boolean)].join("; ");
}
