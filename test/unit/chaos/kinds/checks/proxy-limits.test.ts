import { describe, expect, it } from "vitest";
import { notPassedOn } from "../../../../../chaos/kinds/checks/proxy-limits";
import { requestTarget } from "../../../../../chaos/kinds/checks/request-parts";

const withNames = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "value"]));

describe("the API server's proxy passes on", () => {
    it.each([
        "/",
        "/orders",
        "/orders/",
        "/a.b/~c/d_e-f;v=1,2:3@4$5&6+7=8",
        "/100%25",
        "/a%3Fb%23c%20d%22",
        "/%252F",
        "/caf%C3%A9",
        "/latin-1/%E9",
        "/v1/...",
    ])("the path %s", (path) => expect(notPassedOn(path, {})).toEqual([]));

    it("what no path may have by RFC 3986: it is encoded whichever way it is asked, and the query is not", () => {
        const target = requestTarget(new URL("http://service/a|b[c]^?q=[1]|2"));
        expect(target).toBe("/a%7Cb%5Bc%5D%5E?q=[1]|2");
        expect(notPassedOn(target, {})).toEqual([]);
    });

    it.each([
        ["lower-case hexadecimal digits", "/caf%c3%a9"],
        ["encoded letters", "/%6Frders/%7Eme"],
    ])("%s in another form, which is the same URI by RFC 3986", (_, path) => expect(notPassedOn(path, {})).toEqual([]));

    it.each([
        "a=1&b=2",
        "a=b?c",
        "a=%2F//../x",
        "a;b=1;c",
        "a=100%",
        "q='(x)!*'|[y]",
        "b?",
        "a=%20+%2B",
        "timeout=5s&watch=true&path=/x",
        "x=dryRun",
    ])("the query %s, byte by byte", (query) => expect(notPassedOn(`/search?${query}`, {})).toEqual([]));

    it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("the method %s", (method) =>
        expect(notPassedOn("/", {}, method)).toEqual([]),
    );

    it("an upgrade", () => {
        expect(notPassedOn("/", { connection: "keep-alive, Upgrade", UPGRADE: "websocket" })).toEqual([]);
        expect(notPassedOn("/", { Connection: "close", Upgrade: "h2c" })).toHaveLength(2);
    });

    it("most headers", () =>
        expect(
            notPassedOn("/", withNames("Accept", "Cookie", "Origin", "Idempotency-Key", "X-Request-Id", "User-Agent")),
        ).toEqual([]));
});

describe("it does not pass on", () => {
    it.each([
        ["/api/queues/%2F/orders", "/api/queues/orders"],
        ["/a%2fb", "/a/b"],
        ["/files//1", "/files/1"],
        ["//files", "/files"],
        ["/files//", "/files/"],
        ["/files%2F", "/files/"],
        ["/Products(1)", "/Products%281%29"],
        ["/a!b'c*d", "/a%21b%27c%2Ad"],
        // A path may have these, and encoded they are not the same (RFC 3986, 2.2).
        ["/a(b)!*'", "/a%28b%29%21%2A%27"],
        ["/a%40b%3Ac%3Bd", "/a@b:c;d"],
        ["/100%", "/100%25"],
    ])("the path %s, which arrives as %s", (path, arrives) =>
        expect(notPassedOn(`${path}?q=1`, {})).toEqual([`the path ${path}, which would arrive as ${arrives}`]),
    );

    it("an empty query, and a parameter that the API server rejects", () => {
        expect(notPassedOn("/orders?", {})).toEqual(["an empty query"]);
        expect(notPassedOn("/orders?a=1&dryRun=All", {})).toEqual(["the parameter dryRun"]);
    });

    it.each([
        ...["Authorization", "Host", "Impersonate-User", "X-Remote-Group", "X-Forwarded-Proto", "x-forwarded-for"],
        ...["Connection", "Upgrade", "TE", "Transfer-Encoding", "Proxy-Authorization", "Keep-Alive"],
    ])("the header %s", (name) => expect(notPassedOn("/", withNames("Accept", name))).toEqual([`the header ${name}`]));

    it.each(["BAN", "PURGE", "QUERY", "TRACE", "get"])("the method %s", (method) =>
        expect(notPassedOn("/", {}, method)).toEqual([`the method ${method}`]),
    );

    it("several things, all of which are named", () =>
        expect(notPassedOn("//?", withNames("Host"))).toEqual([
            "the header Host",
            "the path //, which would arrive as /",
            "an empty query",
        ]));
});
