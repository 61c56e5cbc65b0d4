import * as z from "zod";
import { resources } from "../../cluster/resources";
import { describeMilliseconds, type Duration, parseDuration } from "../../duration";
import { describeShare, parsePercentage } from "../../share";
import { describeValue, durationBetween, percentage } from "../../texts";
import type { AttackKind, Through } from "../kind";
import type { Abort } from "./proxy/protocol";

/**
 * Delays or aborts what callers send to the targets through a Service. An ordinary pod, the proxy, takes the Service's
 * place: the Service's selector points to it, and it forwards everything to the Service's pods. Connections that were
 * open before, and callers that do not use the Service, are not affected.
 */
export interface FaultAttack {
    kind: "fault";
    /** Name of the Service, in the targets' namespace. */
    service: string;
    /**
     * How long the proxy holds what it delays: a request in HTTP/1.1, else the beginning of a connection. 0 ms to 1 h.
     * @default "0ms"
     */
    delay?: Duration;
    /**
     * What becomes of it then. A number: the proxy answers with this status, from 400 to 599; only for HTTP/1.1 in
     * clear text. `reset`: the connection is reset. `hang`: nothing is answered. @default it is forwarded
     */
    abort?: Abort;
    /** How much is delayed and aborted: the share of the requests, else of the connections. @default "100%" */
    percentage?: string;
}

const delays = { least: "0ms", most: "1h" };
const statuses = { least: 400, most: 599 };
const allowedAborts = `a status from ${statuses.least} to ${statuses.most}, "reset" or "hang"`;

const notAnAbort = ({ input }: { input?: unknown }) =>
    `${describeValue(input)} is not allowed; allowed: ${allowedAborts}`;

const errorStatus = z.int().min(statuses.least, { error: notAnAbort }).max(statuses.most, { error: notAnAbort });

const notAService = ({ input }: { input?: unknown }) =>
    `${input === undefined ? "is missing" : `${describeValue(input)} is not the name of a Service`}; allowed: ` +
    'its name, as in "hot-deals"';

function through({ service, delay = "0ms", abort, percentage = "100%" }: FaultAttack): Through {
    return { service, delayMs: parseDuration(delay)!, abort, percentage: parsePercentage(percentage)! * 100 };
}

export const fault = {
    schema: z.strictObject({
        kind: z.literal("fault"),
        service: z.string({ error: notAService }).regex(/^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/, { error: notAService }),
        delay: durationBetween(delays, "200ms or 2s").optional(),
        abort: z
            .union([errorStatus, z.enum(["reset", "hang"])], {
                error: notAnAbort,
            })
            .optional(),
        percentage: percentage("30%").optional(),
    }),
    mistake: ({ delay, abort }) =>
        delay === undefined && abort === undefined
            ? { field: "delay", message: "is missing, and so is abort: nothing would be done; set one of them" }
            : undefined,
    describe(attack) {
        const { delayMs, abort, percentage } = through(attack);
        const share = percentage === 100 ? "" : `in ${describeShare(percentage / 100)} of the requests `;
        if (delayMs === 0 && abort === undefined) return `reached by way of a proxy through Service ${attack.service}`;
        const delayed = delayMs > 0 ? [`delayed by ${describeMilliseconds(delayMs)}`] : [];
        const aborted = abort === undefined ? [] : [describeAbort(abort)];
        return `${[...delayed, ...aborted].join(" and ")} ${share}through Service ${attack.service}`;
    },
    onlyReady: true,
    through,
    restores: { resource: resources.service, nameIn: ({ service }) => service, keptIn: resources.service },
    proof: (attack) => ({ through: through(attack), stillWorks: { through: true } }),
} satisfies AttackKind<FaultAttack>;

const describeAbort = (abort: NonNullable<FaultAttack["abort"]>) =>
    typeof abort === "number" ? `aborted with status ${abort}` : { reset: "reset", hang: "left without answer" }[abort];
