import { METHODS } from "node:http";
import { describe, expect, it } from "vitest";
import { fault } from "../../../../../../chaos/kinds/attacks/fault/fault";
import { contradictionsIn, describeMatch, samplesOf } from "../../../../../../chaos/kinds/attacks/fault/match";
import { requestHead } from "../../../../../../chaos/kinds/attacks/fault/proxy/http-head";
import { matcherOf } from "../../../../../../chaos/kinds/attacks/fault/proxy/matcher";
import type { RequestMatch } from "../../../../../../chaos/kinds/attacks/fault/proxy/protocol";
import { inWords } from "../../../../../../chaos/values/texts";

/** Reads a request as the proxy does. */
const read = (lines: string) => requestHead(Buffer.from(`${lines}\r\n\r\n`, "latin1"))!;
const matches = (match: RequestMatch, ...lines: string[]) => matcherOf(match)(read(lines.join("\r\n")));

describe("a request matches", () => {
    it.each<[RequestMatch, string, string[]]>([
        [{ path: "/api/orders" }, "its path, whatever the query", ["GET /api/orders?a=/b HTTP/1.1"]],
        [{ path: "/api/orders" }, "its path in a URL, as proxies are sent it", ["GET http://shop/api/orders HTTP/1.1"]],
        [{ path: "/" }, "the path of a URL without one", ["GET http://shop?a=b HTTP/1.1"]],
        [{ path: "/api/*" }, "a path that begins so", ["GET /api/orders/1 HTTP/1.1"]],
        [{ path: "/api/*" }, "nothing more than that", ["GET /api/ HTTP/1.1"]],
        [{ method: "POST" }, "its method", ["POST /x HTTP/1.1"]],
        [{ method: "BAN" }, "a method that Node.js does not know", ["BAN /api/.* HTTP/1.1"]],
        [{ method: "ban" }, "one in lower case", ["ban / HTTP/1.1"]],
        [{ headers: { "X-Request-Id": "mine" } }, "a header in any case", ["GET / HTTP/1.1", "x-request-id:mine "]],
        [{ headers: { a: "1, 2" } }, "a header of several lines", ["GET / HTTP/1.1", "A: 1", "a: 2"]],
        [{ except: [{ path: "/healthz" }] }, "not an exception", ["GET / HTTP/1.1"]],
        [{ except: [{ path: "/x", method: "GET" }] }, "only a part of an exception", ["PUT /x HTTP/1.1"]],
    ])("%j by %s", (match, _, lines) => expect(matches(match, ...lines)).toBe(true));

    it.each<[RequestMatch, string, string[]]>([
        [{ path: "/api/orders" }, "a longer path", ["GET /api/orders/ HTTP/1.1"]],
        [{ path: "/api/orders" }, "another case", ["GET /API/orders HTTP/1.1"]],
        [{ path: "/api/*" }, "the path without its end", ["GET /api HTTP/1.1"]],
        [{ path: "/api/*" }, "no path", ["OPTIONS * HTTP/1.1"]],
        [{ path: "/x", method: "POST" }, "another method", ["GET /x HTTP/1.1"]],
        [{ method: "BAN" }, "the same method in another case", ["ban / HTTP/1.1"]],
        [{ headers: { "x-request-id": "mine" } }, "another value", ["GET / HTTP/1.1", "X-Request-Id: Mine"]],
        [{ headers: { a: "1", b: "2" } }, "a header less", ["GET / HTTP/1.1", "a: 1"]],
        [{ headers: { a: "1" } }, "one value more", ["GET / HTTP/1.1", "a: 1", "a: 2"]],
        [{ path: "/*", except: [{ path: "/healthz" }] }, "an exception", ["GET /healthz?full HTTP/1.1"]],
    ])("%j, but not with %s", (match, _, lines) => expect(matches(match, ...lines)).toBe(false));
});

describe("a request of each sort", () => {
    const match: RequestMatch = {
        path: "/api/*",
        method: "POST",
        headers: { "X-Request-Id": "mine", b: "2" },
        except: [{ path: "/api/health/*" }, { headers: { c: "3" } }],
    };

    it("is one that matches, and one that differs in each thing", () => {
        expect(samplesOf(match).map(({ head, differs }) => [differs, ...head.trim().split("\r\n")])).toEqual([
            [undefined, "POST /api/chaos-experiments HTTP/1.1", "x-request-id: mine", "b: 2"],
            ["to another path", "POST /a HTTP/1.1", "x-request-id: mine", "b: 2"],
            ["by another method", "GET /api/chaos-experiments HTTP/1.1", "x-request-id: mine", "b: 2"],
            ["without x-request-id", "POST /api/chaos-experiments HTTP/1.1", "b: 2"],
            ["without b", "POST /api/chaos-experiments HTTP/1.1", "x-request-id: mine"],
            ["of match.except.0", "POST /api/health/chaos-experiments HTTP/1.1", "x-request-id: mine", "b: 2"],
            ["of match.except.1", "POST /api/chaos-experiments HTTP/1.1", "x-request-id: mine", "b: 2", "c: 3"],
        ]);
    });

    it.each<RequestMatch>([
        match,
        { path: "/a" },
        { path: "/a*" },
        { method: "GET" },
        { headers: { a: "1" } },
        { except: [{ method: "GET" }, { method: "HEAD", path: "/x" }] },
        {
            path: "/a/*",
            except: [
                { path: "/a/b", method: "GET" },
                { path: "/*", method: "PUT" },
            ],
        },
        { headers: { a: "1" }, except: [{ headers: { A: "1", b: "2" } }] },
        { path: "/*", except: [{ path: "/chaos-experiments*" }] },
        { path: "/shop/*", except: [{ path: "/shop/c*" }, { path: "/shop/a*" }] },
        { except: [...METHODS.map((method) => ({ method, path: "/chaos-*" })), { path: "/0*" }] },
        { except: METHODS.map((method) => ({ method })) },
        { method: "ban" },
    ])("of %j is one for the proxy, too", (of) => {
        for (const { head, differs } of samplesOf(of))
            expect(matches(of, head.trim()), `a request ${differs}`).toBe(differs === undefined);
        expect(samplesOf(of).length).toBeGreaterThan(1);
        expect(contradictionsIn(of)).toEqual([]);
    });

    it("is any, if there is no match", () => expect(samplesOf(undefined)).toEqual([{ head: "" }]));
});

it.each<[RequestMatch, string]>([
    [{ path: "/api/*", method: "GET", headers: { "x-a": "1", b: "2" } }, "GET /api/* with x-a: 1 and b: 2"],
    [{ path: "/api/*" }, "to /api/*"],
    [
        { method: "POST", except: [{ path: "/healthz" }, { path: "/readyz" }] },
        "by POST except to /healthz or to /readyz",
    ],
    [{ except: [{ path: "/healthz" }] }, "except to /healthz"],
])("%j is told as: the requests %s", (match, words) => expect(describeMatch(match)).toBe(words));

describe("a mistake in a match says what is allowed:", () => {
    const path = 'is not a path; allowed: a path as it is sent, without a query, such as "/api/orders"';
    it.each<[unknown, string, string]>([
        [{ path: "api" }, "match.path", path],
        [{ path: "/a?b=c" }, "match.path", path],
        [{ path: "/a#b" }, "match.path", path],
        [{ path: "/a/*/b" }, "match.path", 'or "/api/*" for all that begin with "/api/"'],
        [{ path: "/größe" }, "match.path", path],
        ...["GET /", "", "G(T)", "GÉT"].map((method): [object, string, string] => [
            { method },
            "match.method",
            `${JSON.stringify(method)} is not a method; allowed: letters, digits and`,
        ]),
        [{ header: {} }, "match", 'there is no field "header" here'],
        [
            { headers: { "x y": "1" } },
            "match.headers.x y",
            "is not the name of a header; allowed: such as x-request-id",
        ],
        [{ headers: { a: " 1" } }, "match.headers.a", "is not a header's value; allowed: text in ASCII"],
        [{ headers: { a: "1\r\nb: 2" } }, "match.headers.a", "is not a header's value"],
        [{ headers: { a: 1 } }, "match.headers.a", "is a number; allowed: text"],
        [{ headers: { "X-A": "1", "x-a": "1" } }, "match.headers.x-a", "is X-A already: names of headers have no case"],
        [{ headers: { Cookie: "id=7" } }, "match.headers.Cookie", "secrets must not be in a definition"],
        [{ except: { path: "/healthz" } }, "match.except", "allowed: a list"],
        [{ except: [] }, "match.except", "has 0 items; allowed: at least 1"],
        [{ except: [{ path: "x" }] }, "match.except.0.path", "is not a path"],
        [{}, "match", "matches every request; leave it out, or set a path, a method, headers or an exception"],
        [{ path: "/*" }, "match", "matches every request"],
        [{ except: [{}] }, "match.except", "excepts every request that matches"],
        [{ path: "/a", except: [{ path: "/*" }] }, "match.except", "excepts every request that matches"],
        [{ path: "/a/*", except: [{ path: "/a/b" }, { path: "/c" }] }, "match.except.1", "excepts nothing: no request"],
        [{ method: "GET", except: [{ method: "PUT" }] }, "match.except.0", "excepts nothing"],
        [{ headers: { a: "1" }, except: [{ headers: { A: "2" } }] }, "match.except.0", "excepts nothing"],
    ])("%j", (match, place, message) => {
        const attack = { kind: "fault", service: "hot-deals", delay: "2s", match };
        const { error } = fault.schema.safeParse(attack, { error: inWords });
        const issues = (error?.issues ?? []).map((issue) => ({ ...issue, path: issue.path.join(".") }));
        expect(issues).toContainEqual(
            expect.objectContaining({ path: place, message: expect.stringContaining(message) }),
        );
    });
});
