/** What a definition may say of a fault, and what contradicts itself. */
import * as z from "zod";
import { carriesCredential, credentialIn, describeValueOf, storedInClear } from "../../../values/credentials";
import { isHeaderName, isMethod } from "../../../values/http-method";
import { unroundedDuration } from "../../../values/duration";
import { dnsLabel } from "../../../values/kubernetes-rules";
import {
    describeValue,
    durationBetween,
    type Mistake,
    notAllowed,
    notAMethod,
    notAnObject,
    percentage,
    refusing,
    refusingEntries,
    repeatedHeader,
} from "../../../values/texts";
import type { FaultAttack } from "./fault-attack";
import { contradictionsIn } from "./match";
import { isGrpc, sizeOf } from "./proxy/http2-heads";
import { type AbortAnswer, type AbortGrpc, grpcFailures, grpcStatusOf, type RequestMatch } from "./proxy/protocol";

const notAService = ({ input }: { input?: unknown }) =>
    `${input === undefined ? "is missing" : `${describeValue(input)} is not the name of a Service`}; allowed: ` +
    'its name, as in "hot-deals"';

const notAPath = notAllowed(
    'a path as it is sent, without a query, such as "/api/orders", or "/api/*" for all that begin with "/api/"',
    "a path",
);

/** The proxy reads 64 KiB of a request's head, so a match must be shorter. */
const longest = 4_096;
/** Python reads 100 headers, and Node.js 128, with those that the proxy adds. */
const mostHeaders = 64;

/** @param instead what else to do with a credential */
const headerMistakes = (instead: string) => (name: string, value: string, all: Readonly<Record<string, string>>) => {
    const credential = carriesCredential(name) ? describeValueOf(name) : credentialIn(value);
    if (credential) return [storedInClear(credential, instead)];
    return [
        !isHeaderName(name) && "is not the name of a header; allowed: such as x-request-id",
        repeatedHeader(name, all),
        !/^[!-~](?:[\t -~]*[!-~])?$/.test(value) &&
            "is not a header's value; allowed: text in ASCII without spaces around it",
    ];
};

/** @param mostBytes as `sizeOf` counts them */
const headersWith = (mistakes: ReturnType<typeof headerMistakes>, mostBytes: number) =>
    z
        .record(z.string(), z.string().max(longest))
        .superRefine(refusingEntries(mistakes))
        .superRefine(
            refusing((all) => {
                const [number, bytes] = [Object.keys(all).length, sizeOf(all)];
                if (number > mostHeaders) return `has ${number} headers; allowed: at most ${mostHeaders}`;
                if (bytes <= mostBytes) return undefined;
                return `has ${bytes} bytes, with 32 for each header; allowed: at most ${mostBytes}`;
            }),
        );

const pattern = {
    path: z
        .string({ error: notAPath })
        .max(longest)
        .regex(/^\/[!"$-)+->@-~]*\*?$/, { error: notAPath })
        .optional(),
    method: z.string({ error: notAMethod }).refine(isMethod, { error: notAMethod }).optional(),
    headers: headersWith(headerMistakes("match another header, such as x-request-id, or a path"), 32_000).optional(),
};
const matchSchema = z
    .strictObject({ ...pattern, except: z.array(z.strictObject(pattern)).nonempty().optional() })
    .superRefine(refusing(contradictionsIn), {
        when: ({ issues }) => issues.length === 0,
    }) satisfies z.ZodType<RequestMatch>;

const allowedStatus = "a status from 400 to 599";
const allowedAbort =
    `${allowedStatus}, "reset", "hang", { status: 429, headers: { "retry-after": "2" } }, or ` +
    '{ grpc: "UNAVAILABLE" }';
const statusWith = (error: ReturnType<typeof notAllowed>) => z.int({ error }).min(400, { error }).max(599, { error });

/** They say where the answer ends, and what becomes of the connection: the proxy does that. */
const ofProxy =
    /^(?:connection|content-length|http2-settings|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;
const secretAnswer = headerMistakes("answer with a value that is no secret");

const textOfAtMost = (most: number) =>
    z
        .string()
        .max(most)
        .superRefine(
            refusing((text) => {
                const credential = credentialIn(text);
                return credential && storedInClear(credential, "answer with a text that has none");
            }),
        );

const answerSchema = z.strictObject({
    status: statusWith(notAllowed(allowedStatus)),
    headers: headersWith(
        (name, value, all) => [
            ...secretAnswer(name, value, all),
            ofProxy.test(name) && "is set by the proxy; leave it out",
        ],
        // Netty reads 8 KiB, with those that the proxy adds.
        8_000,
    ).optional(),
    body: textOfAtMost(longest).optional(),
}) satisfies z.ZodType<AbortAnswer>;

const notAGrpcStatus = {
    error: notAllowed(`${grpcFailures.join(", ")}, or a number from 1 to ${grpcFailures.length}`),
};
const grpcNumber = z.int(notAGrpcStatus).min(1, notAGrpcStatus).max(grpcFailures.length, notAGrpcStatus);

const grpcSchema = z.strictObject({
    grpc: z.union([z.enum(grpcFailures), grpcNumber], notAGrpcStatus),
    message: textOfAtMost(1_024).optional(),
}) satisfies z.ZodType<AbortGrpc>;

const abortSchema = z.union(
    [statusWith(notAllowed(allowedAbort)), z.literal("reset"), z.literal("hang"), answerSchema, grpcSchema],
    { error: notAllowed(allowedAbort) },
);

const wholeNumber = (least: number, most: number) => {
    const error = notAllowed(`a whole number from ${least} to ${most}`);
    return z.int({ error }).min(least, { error }).max(most, { error });
};
const mostBytes = 1_000_000_000;
const mostRequests = 1_000_000;
const pulseTime = durationBetween({ least: "100ms", most: "1h" }, "500ms or 5s");

export const faultSchema = z.strictObject({
    kind: z.literal("fault"),
    service: z.string({ error: notAService }).refine(dnsLabel().isValid, { error: notAService }),
    delay: durationBetween({ least: "0ms", most: "1h" }, "200ms or 2s").optional(),
    abort: abortSchema.optional(),
    bytesPerSecond: wholeNumber(1, mostBytes).optional(),
    cutAfter: wholeNumber(0, mostBytes).optional(),
    stream: z.enum(["downstream", "upstream"]).optional(),
    percentage: percentage("30%").optional(),
    match: matchSchema.optional(),
    first: wholeNumber(1, mostRequests).optional(),
    every: wholeNumber(2, mostRequests).optional(),
    per: z.enum(["client"]).optional(),
    pulse: z
        .strictObject({ on: pulseTime, off: pulseTime }, { error: notAnObject('{ on: "5s", off: "10s" }') })
        .optional(),
}) satisfies z.ZodType<FaultAttack>;

type Rule = [isWrong: boolean, field: string, message: string];

/** Fields that exclude each other, or need one another. */
export function contradictionsOf(attack: FaultAttack): Mistake[] {
    const { delay, abort, bytesPerSecond, cutAfter, stream, percentage, first, every, match, per, pulse } = attack;
    const exactMs = unroundedDuration(delay ?? "0ms")!;
    const limits = [bytesPerSecond, cutAfter].some((limit) => limit !== undefined);
    const [isFirst, isEvery] = [first !== undefined, every !== undefined];
    const rules: Rule[] = [
        [
            delay === undefined && abort === undefined && !limits,
            "delay",
            "is missing, and so are abort, bytesPerSecond and cutAfter: nothing would be done; set one of them",
        ],
        [
            // A time of 0 says so: only the proxy is added.
            exactMs > 0 && exactMs < 1,
            "delay",
            `"${delay}" is not allowed; allowed: 1ms to 1h, or 0ms`,
        ],
        [
            abort !== undefined && limits,
            "abort",
            "leaves no bytes that bytesPerSecond or cutAfter could limit; leave out either",
        ],
        [
            stream !== undefined && !limits,
            "stream",
            "says whose bytes are limited; set bytesPerSecond or cutAfter, too",
        ],
        [
            isFirst && percentage !== undefined,
            "percentage",
            "excludes first, which says itself how many are hit; leave out either",
        ],
        [
            isEvery && percentage !== undefined,
            "percentage",
            "excludes every, which says itself how many are hit; leave out either",
        ],
        [isFirst && isEvery, "every", "excludes first; leave out either"],
        [isFirst && pulse !== undefined, "pulse", "excludes first, which ends by itself; leave out either"],
        [per !== undefined && !isFirst && !isEvery, "per", "says what first or every counts; set one of them, too"],
        ...(grpcStatusOf(abort) && match ? grpcRules(match) : []),
    ];
    return rules.flatMap(([isWrong, field, message]) => (isWrong ? { field, message } : []));
}

/** What no gRPC call has. Of paths and headers, no message repeats a value. */
function grpcRules({ method = "POST", path = "/*", headers = {} }: RequestMatch): Rule[] {
    const not = (what: string, allowed: string) => `is not the ${what} of a gRPC call; allowed: ${allowed}`;
    return [
        [method !== "POST", "match.method", `"${method}" ${not("method", "POST")}`],
        [!/^\/[^/]+\/.|\*$/.test(path), "match.path", not("path", "such as /shop.Orders/Get or /shop.Orders/*")],
        ...Object.entries(headers).map(([name, value]): Rule => [
            name.toLowerCase() === "content-type" && !isGrpc({ "content-type": value }),
            `match.headers.${name}`,
            not("content type", "application/grpc, or such as application/grpc+proto"),
        ]),
    ];
}
