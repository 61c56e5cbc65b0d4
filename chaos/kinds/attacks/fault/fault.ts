import * as z from "zod";
import { dnsLabel } from "../../../values/kubernetes-rules";
import { otherResources, resources, type Right, rightsIn } from "../../../cluster/resources";
import { carriesCredential, credentialIn, describeValueOf, storedInClear } from "../../../values/credentials";
import { describeMilliseconds, type Duration, parseDuration } from "../../../values/duration";
import { isHeaderName, isMethod } from "../../../values/http-method";
import { describeShare, parsePercentage } from "../../../values/share";
import {
    describeValue,
    durationBetween,
    notAllowed,
    notAMethod,
    percentage,
    refusing,
    refusingEntries,
} from "../../../values/texts";
import type { AttackKind } from "../attack-kind";
import { admitProxy, pointToProxy, proxyReady } from "./begin";
import { connectionsOf, findService, type FoundService } from "./find";
import { contradictionsIn, describeMatch } from "./match";
import { bindings } from "./outside";
import { explainFault, readCounts, reportedOf, whyHitNobody } from "./proof";
import type { Abort, Fault, RequestMatch } from "./proxy/protocol";

/**
 * Delays or aborts what callers send to the targets through a Service. An ordinary pod, the proxy, takes the Service's
 * place: the Service's selector points to it, and it forwards everything to the Service's pods. Connections that were
 * open before, and callers that do not use the Service, are not affected.
 */
export interface FaultAttack {
    kind: "fault";
    /** Name of the Service, in the targets' namespace. */
    service: string;
    /** How long a request in HTTP/1.1, else the beginning of a connection, is held, 0 ms to 1 h. @default "0ms" */
    delay?: Duration;
    /**
     * What the proxy does after the delay. A number from 400 to 599: it answers with that status, in HTTP/1.1 in clear
     * text only. `reset`: it resets the connection. `hang`: it never answers. @default it forwards
     */
    abort?: Abort;
    /** Share of the requests, else of the connections, that is delayed and aborted. @default "100%" */
    percentage?: string;
    /** Only these requests are delayed and aborted. HTTP/1.1 in clear text only. @default all traffic */
    match?: RequestMatch;
}

const notAnAbort = notAllowed('a status from 400 to 599, "reset" or "hang"');
const errorStatus = z.int().min(400, { error: notAnAbort }).max(599, { error: notAnAbort });

const notAService = ({ input }: { input?: unknown }) =>
    `${input === undefined ? "is missing" : `${describeValue(input)} is not the name of a Service`}; allowed: ` +
    'its name, as in "hot-deals"';

const notAPath = notAllowed(
    'a path as it is sent, without a query, such as "/api/orders", or "/api/*" for all that begin with "/api/"',
    "a path",
);

/** The proxy reads 64 KiB of a request's head, so a match must be shorter. */
const longest = 4_096;

function headerMistakes(name: string, value: string, all: Readonly<Record<string, string>>) {
    const credential = carriesCredential(name) ? describeValueOf(name) : credentialIn(value);
    if (credential) return [storedInClear(credential, "match another header, such as x-request-id, or a path")];
    const same = Object.keys(all).find((other) => other.toLowerCase() === name.toLowerCase());
    return [
        !isHeaderName(name) && "is not the name of a header; allowed: such as x-request-id",
        same !== name && `is ${same} already: names of headers have no case; leave one of them out`,
        !/^[!-~](?:[\t -~]*[!-~])?$/.test(value) &&
            "is not a header's value; allowed: text in ASCII without spaces around it",
    ];
}

const pattern = {
    path: z
        .string({ error: notAPath })
        .max(longest)
        .regex(/^\/[!"$-)+->@-~]*\*?$/, { error: notAPath })
        .optional(),
    method: z.string({ error: notAMethod }).refine(isMethod, { error: notAMethod }).optional(),
    headers: z.record(z.string(), z.string().max(longest)).superRefine(refusingEntries(headerMistakes)).optional(),
};
const matchSchema = z
    .strictObject({ ...pattern, except: z.array(z.strictObject(pattern)).nonempty().optional() })
    .superRefine(refusing(contradictionsIn), {
        when: ({ issues }) => issues.length === 0,
    }) satisfies z.ZodType<RequestMatch>;

export function faultOf({ service, delay = "0ms", abort, percentage = "100%", match }: FaultAttack): Fault {
    return { service, delayMs: parseDuration(delay)!, abort, percentage: parsePercentage(percentage)! * 100, match };
}

export const fault: AttackKind<FaultAttack, FoundService> = {
    schema: z.strictObject({
        kind: z.literal("fault"),
        service: z.string({ error: notAService }).refine(dnsLabel().isValid, { error: notAService }),
        delay: durationBetween({ least: "0ms", most: "1h" }, "200ms or 2s").optional(),
        abort: z.union([errorStatus, z.enum(["reset", "hang"])], { error: notAnAbort }).optional(),
        percentage: percentage("30%").optional(),
        match: matchSchema.optional(),
    }),
    examples: [{ kind: "fault", service: "FAULTED", delay: "2s" }],
    mistake: ({ delay, abort }) =>
        delay === undefined && abort === undefined
            ? { field: "delay", message: "is missing, and so is abort: nothing would be done; set one of them" }
            : undefined,
    describe(attack) {
        const { delayMs, abort, percentage, match } = faultOf(attack);
        const requests = requestsOf({ percentage, match }, "the requests");
        if (delayMs === 0 && abort === undefined) return `reached by way of a proxy through Service ${attack.service}`;
        const delayed = delayMs > 0 ? [`delayed by ${describeMilliseconds(delayMs)}`] : [];
        const aborted = abort === undefined ? [] : [describeAbort(abort)];
        return `${[...delayed, ...aborted].join(" and ")}${requests} through Service ${attack.service}`;
    },
    onlyReady: true,
    proof: () => ({}),
    // The proxy, and the Service that keeps what led to the pods before.
    object: resources.pod,
    parts: [resources.service],
    restores: { resource: resources.service, named: "service" },
    rights,
    forJob: faultOf,
    rightsInJob: (proxy) =>
        rightsIn()("get", resources.service, proxy).to("know what a fault's Service selected before"),
    find: (attack, cluster, namespace) => findService(cluster, namespace, attack),
    admit: admitProxy,
    connects: connectionsOf,
    // This is usual for a pod whose image is on its node.
    readyMs: 10_000,
    ready: proxyReady,
    begin: pointToProxy,
    reported: reportedOf,
    explain: explainFault,
    count: readCounts,
    whyNothing: (attack, counts) => whyHitNobody(faultOf(attack), counts),
};

export function effectOf({ delayMs, abort, percentage, match }: Fault): string {
    const share = requestsOf({ percentage, match }, "requests");
    const delay = describeMilliseconds(delayMs);
    if (abort === undefined) return `slow by ${delay}${share}`;
    const how = { reset: "failing with reset connections", hang: "failing without an answer" };
    const failing = typeof abort === "number" ? `failing with status ${abort}` : how[abort];
    return `${failing}${delayMs > 0 ? ` after ${delay}` : ""}${share}`;
}

/** Such as ` in 30% of the requests to /api/*`; empty for all of them. */
function requestsOf({ percentage, match }: Pick<Fault, "percentage" | "match">, all: string): string {
    const share = percentage < 100 ? [`${describeShare(percentage / 100)} of`] : [];
    const which = match ? [describeMatch(match)] : [];
    return share.length + which.length > 0 ? ` in ${[...share, all, ...which].join(" ")}` : "";
}

function rights(namespace: string): Right[] {
    const here = rightsIn(namespace);
    return [
        rightsIn()("list", resources.networkPolicy).to(
            "refuse faults that would cut off callers in other namespaces",
            "they are not refused",
        ),
        here("list", ...bindings).to(
            "refuse Services whose pods an AWS load balancer has as targets",
            "only annotations and readiness gates show that",
        ),
        here("get", otherResources.namespace, namespace).to("find the NetworkPolicies that a fault's callers need"),
        here("list watch", otherResources.endpointSlice).to("grant a fault's proxy its rights"),
    ].flat();
}

const describeAbort = (abort: NonNullable<FaultAttack["abort"]>) =>
    typeof abort === "number" ? `aborted with status ${abort}` : { reset: "reset", hang: "left without answer" }[abort];
