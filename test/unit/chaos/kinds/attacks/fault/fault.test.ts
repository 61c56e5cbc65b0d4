import { describe, expect, it } from "vitest";
import { definitionSchema, issuesIn } from "../../../../../../chaos/definition/definition";
import { fault } from "../../../../../../chaos/kinds/attacks/fault/fault";
import { type FaultAttack, faultOf } from "../../../../../../chaos/kinds/attacks/fault/fault-attack";
import { contradictionsOf } from "../../../../../../chaos/kinds/attacks/fault/fields";
import { effectOf } from "../../../../../../chaos/kinds/attacks/fault/words";

function mistakeIn(fields: Partial<Record<keyof FaultAttack, unknown>>): string | undefined {
    const attack = { kind: "fault", service: "hot-deals", delay: "2s", ...fields };
    return issuesIn({ hypothesis: "It holds.", attacks: [attack] }, definitionSchema)[0]?.message;
}

const headers = { "x-request-id": "mine" };
const answering = (some: Record<string, string>) => ({ status: 429, headers: some });
const aborts =
    'a status from 400 to 599, "reset", "hang", { status: 429, headers: { "retry-after": "2" } }, or ' +
    '{ grpc: "UNAVAILABLE" }';

describe("a fault is told in words:", () => {
    it.each<[string, Partial<FaultAttack>]>([
        ["delayed by 2 s through Service hot-deals", { delay: "2s" }],
        ["aborted with status 503 in 30% of the requests through Service hot-deals", { abort: 503, percentage: "30%" }],
        ["delayed by 200 ms and reset through Service hot-deals", { delay: "200ms", abort: "reset" }],
        ["left without answer through Service hot-deals", { abort: "hang" }],
        ["reached by way of a proxy through Service hot-deals", { delay: "0ms" }],
        [
            "delayed by 2 s in 30% of the requests GET /api/* with x-request-id: mine through Service hot-deals",
            { delay: "2s", percentage: "30%", match: { path: "/api/*", method: "GET", headers } },
        ],
        ["reset in the requests to /api/* through Service hot-deals", { abort: "reset", match: { path: "/api/*" } }],
        [
            "aborted with status 429 and retry-after: 2 in the first 3 requests of each client through Service " +
                "hot-deals",
            { abort: answering({ "retry-after": "2" }), first: 3, per: "client" },
        ],
        [
            "aborted with gRPC status UNAVAILABLE in the requests to /shop.Orders/* through Service hot-deals",
            { abort: { grpc: 14, message: "gone" }, match: { path: "/shop.Orders/*" } },
        ],
        ["reset in the first request through Service hot-deals", { abort: "reset", first: 1 }],
        [
            "reset in 1 of every 3 requests to /a through Service hot-deals",
            { abort: "reset", every: 3, match: { path: "/a" } },
        ],
        [
            "delayed by 1 s in 30% of the requests through Service hot-deals, for 5 s of every 15 s",
            { delay: "1s", percentage: "30%", pulse: { on: "5s", off: "10s" } },
        ],
        [
            "delayed by 1 s and slowed to 1000 bytes/s and cut after 5000 bytes of what is sent to it through " +
                "Service hot-deals",
            { delay: "1s", bytesPerSecond: 1_000, cutAfter: 5_000, stream: "upstream" },
        ],
    ])("%s", (words, fields) => expect(fault.describe({ kind: "fault", service: "hot-deals", ...fields })).toBe(words));
});

describe("a mistake in a fault says what is allowed:", () => {
    it.each<[Parameters<typeof mistakeIn>[0], string]>([
        [{ service: undefined }, 'is missing; allowed: its name, as in "hot-deals"'],
        [{ service: "Hot Deals" }, '"Hot Deals" is not the name of a Service; allowed: its name, as in "hot-deals"'],
        [{ delay: 2000 }, "2000 is not allowed; allowed: a duration from 0ms to 1h, such as 200ms or 2s"],
        [{ delay: "2h" }, '"2h" is not allowed; allowed: a duration from 0ms to 1h, such as 200ms or 2s'],
        [{ abort: 200 }, `200 is not allowed; allowed: ${aborts}`],
        [{ abort: "drop" }, `"drop" is not allowed; allowed: ${aborts}`],
        [{ abort: { status: 200 } }, "200 is not allowed; allowed: a status from 400 to 599"],
        [{ abort: { grpc: "OK" } }, '"OK" is not allowed; allowed: CANCELLED, UNKNOWN, INVALID_ARGUMENT, '],
        [{ abort: { grpc: 0 } }, "0 is not allowed; allowed: CANCELLED, UNKNOWN, INVALID_ARGUMENT, "],
        [{ abort: { grpc: "unavailable" } }, "UNAUTHENTICATED, or a number from 1 to 16"],
        [{ abort: { grpc: 14, status: 503 } }, 'there is no field "grpc" here'],
        [{ abort: { grpc: 14, message: "token=abc" } }, "has a value of token; secrets must not be in a definition"],
        [{ abort: answering({ "Content-Length": "2" }) }, "is set by the proxy; leave it out"],
        [
            { abort: answering({ "set-cookie": "id=1" }) },
            "has a value of set-cookie; secrets must not be in a definition",
        ],
        [{ abort: answering({ "retry-after": "2\r\n" }) }, "is not a header's value; allowed: text in ASCII"],
        [
            { abort: { status: 401, body: '{"token":"abc"}' } },
            "has a value of token; secrets must not be in a definition",
        ],
        [{ bytesPerSecond: 0 }, "0 is not allowed; allowed: a whole number from 1 to 1000000000"],
        [{ cutAfter: -1 }, "-1 is not allowed; allowed: a whole number from 0 to 1000000000"],
        [{ first: 0 }, "0 is not allowed; allowed: a whole number from 1 to 1000000"],
        [{ every: 1 }, "1 is not allowed; allowed: a whole number from 2 to 1000000"],
        [{ pulse: "5s" }, '"5s" is not allowed; allowed: an object, such as { on: "5s", off: "10s" }'],
        [{ pulse: { on: "5s" } }, "is missing; allowed: a duration from 100ms to 1h, such as 500ms or 5s"],
        [{ percentage: 30 }, "30 is not a percentage; allowed: a percentage above 0% and up to 100%, such as 30%"],
    ])("%j", (fields, message) => expect(mistakeIn(fields)).toContain(message));

    it("more or longer headers than a caller or the proxy reads", () => {
        const many = (number: number, length: number) =>
            Object.fromEntries(Array.from({ length: number }, (_, index) => [`x-${index}`, "a".repeat(length)]));
        const bytes = (number: number, most: number) =>
            `has ${number} bytes, with 32 for each header; allowed: at most ${most}`;
        expect(mistakeIn({ abort: answering(many(65, 1)) })).toBe("has 65 headers; allowed: at most 64");
        expect(mistakeIn({ abort: answering(many(2, 4_000)) })).toBe(bytes(8_070, 8_000));
        expect(mistakeIn({ match: { headers: many(8, 4_000) } })).toBe(bytes(32_280, 32_000));
        expect(mistakeIn({ abort: answering(many(64, 80)), match: { headers: many(7, 4_000) } })).toBeUndefined();
    });

    it.each<[Partial<FaultAttack>, string[]]>([
        [{}, ["delay: is missing, and so are abort, bytesPerSecond and cutAfter: nothing would be done"]],
        ...["0.4ms", "0.9ms", "0.0005s"].map((delay): [Partial<FaultAttack>, string[]] => [
            { delay, abort: 503 },
            [`delay: "${delay}" is not allowed; allowed: 1ms to 1h, or 0ms`],
        ]),
        ...["0ms", "0s", "1ms", "1.5ms"].map((delay): [Partial<FaultAttack>, string[]] => [{ delay }, []]),
        [{ abort: 503, cutAfter: 9 }, ["abort: leaves no bytes that bytesPerSecond or cutAfter could limit"]],
        [{ delay: "1s", stream: "upstream" }, ["stream: says whose bytes are limited; set bytesPerSecond"]],
        [{ delay: "1s", first: 3, percentage: "30%" }, ["percentage: excludes first"]],
        [{ delay: "1s", every: 3, percentage: "30%" }, ["percentage: excludes every"]],
        [
            { delay: "1s", first: 3, every: 3, pulse: { on: "1s", off: "1s" } },
            ["every: excludes first; leave out either", "pulse: excludes first, which ends by itself"],
        ],
        [{ delay: "1s", per: "client" }, ["per: says what first or every counts; set one of them, too"]],
        [{ delay: "1s", every: 3, per: "client", pulse: { on: "1s", off: "1s" } }, []],
        [
            {
                abort: { grpc: 14 },
                match: { method: "GET", path: "/healthz", headers: { "Content-Type": "application/json" } },
            },
            [
                'match.method: "GET" is not the method of a gRPC call; allowed: POST',
                "match.path: is not the path of a gRPC call; allowed: such as /shop.Orders/Get or /shop.Orders/*",
                "match.headers.Content-Type: is not the content type of a gRPC call; allowed: application/grpc, or",
            ],
        ],
        [{ abort: { grpc: 14 }, match: { path: "/shop.Orders/" } }, ["match.path: "]],
        [
            { abort: { grpc: 14 }, match: { path: "/shop.*", headers: { "content-type": "application/grpc+proto" } } },
            [],
        ],
        [{ abort: { grpc: 14 }, match: { path: "/shop.Orders/Get", method: "POST" } }, []],
        [{ abort: { grpc: 14 }, match: { path: "/under/shop.Orders/Get", except: [{ path: "/healthz" }] } }, []],
        [{ abort: 503, match: { method: "GET", path: "/healthz" } }, []],
        [{ cutAfter: 0, bytesPerSecond: 9, stream: "upstream", first: 1 }, []],
    ])("several fields together: %j", (fields, messages) => {
        const found = contradictionsOf({ kind: "fault", service: "hot-deals", ...fields });
        expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(
            messages.map((message) => expect.stringContaining(message) as unknown),
        );
    });
});

it.each<[string, Partial<FaultAttack>]>([
    ["slow by 2 s", { delay: "2s" }],
    ["slow by 250 ms in 29% of requests", { delay: "250ms", percentage: "29%" }],
    ["failing with status 503", { abort: 503 }],
    ["failing with status 503 after 1.5 s in 30% of requests", { abort: 503, delay: "1500ms", percentage: "30%" }],
    ["failing with reset connections", { abort: "reset" }],
    ["failing without an answer in 0.5% of requests", { abort: "hang", percentage: "0.5%" }],
    ["slow by 2 s in requests with x-request-id: mine", { delay: "2s", match: { headers } }],
    ["failing with status 429 in the first 3 requests", { abort: { status: 429 }, first: 3 }],
    ["slowed to 1000 bytes/s, for 5 s of every 15 s", { bytesPerSecond: 1_000, pulse: { on: "5s", off: "10s" } }],
    ["slow by 2 s and cut after 0 bytes in 1 of every 2 requests", { delay: "2s", cutAfter: 0, every: 2 }],
])("the proxy says what is done to a target: %s", (effect, fields) =>
    expect(effectOf(faultOf({ kind: "fault", service: "hot-deals", ...fields }))).toBe(effect),
);
