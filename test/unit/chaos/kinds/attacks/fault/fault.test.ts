import { describe, expect, it } from "vitest";
import { effectOf, fault, type FaultAttack, faultOf } from "../../../../../../chaos/kinds/attacks/fault/fault";

const given = (fields: Partial<Record<keyof FaultAttack, unknown>>) =>
    fault.schema.safeParse({ kind: "fault", service: "hot-deals", delay: "2s", ...fields });
const mistakeIn = (fields: Parameters<typeof given>[0]) => given(fields).error?.issues[0]?.message;

const headers = { "x-request-id": "mine" };

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
    ])("%s", (words, fields) => expect(fault.describe({ kind: "fault", service: "hot-deals", ...fields })).toBe(words));
});

describe("a mistake in a fault says what is allowed:", () => {
    it.each<[Parameters<typeof given>[0], string]>([
        [{ service: undefined }, 'is missing; allowed: its name, as in "hot-deals"'],
        [{ service: "Hot Deals" }, '"Hot Deals" is not the name of a Service; allowed: its name, as in "hot-deals"'],
        [{ delay: 2000 }, "2000 is not allowed; allowed: a duration from 0ms to 1h, such as 200ms or 2s"],
        [{ delay: "2h" }, '"2h" is not allowed; allowed: a duration from 0ms to 1h, such as 200ms or 2s'],
        [{ abort: 200 }, '200 is not allowed; allowed: a status from 400 to 599, "reset" or "hang"'],
        [{ abort: "drop" }, '"drop" is not allowed; allowed: a status from 400 to 599, "reset" or "hang"'],
        [{ percentage: 30 }, "30 is not a percentage; allowed: a percentage above 0% and up to 100%, such as 30%"],
    ])("%j", (fields, message) => expect(mistakeIn(fields)).toBe(message));

    it("one of delay and abort must be set", () =>
        expect(fault.mistake!({ kind: "fault", service: "hot-deals" })?.message).toContain("set one of them"));
});

it.each<[string, Partial<FaultAttack>]>([
    ["slow by 2 s", { delay: "2s" }],
    ["slow by 250 ms in 29% of requests", { delay: "250ms", percentage: "29%" }],
    ["failing with status 503", { abort: 503 }],
    ["failing with status 503 after 1.5 s in 30% of requests", { abort: 503, delay: "1500ms", percentage: "30%" }],
    ["failing with reset connections", { abort: "reset" }],
    ["failing without an answer in 0.5% of requests", { abort: "hang", percentage: "0.5%" }],
    ["slow by 2 s in requests with x-request-id: mine", { delay: "2s", match: { headers } }],
])("the proxy says what is done to a target: %s", (effect, fields) =>
    expect(effectOf(faultOf({ kind: "fault", service: "hot-deals", ...fields }))).toBe(effect),
);
