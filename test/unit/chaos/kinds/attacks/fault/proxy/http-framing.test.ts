import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Chunks } from "../../../../../../../chaos/kinds/attacks/fault/proxy/http-body";
import {
    type Body,
    closing,
    HeadEnd,
    requestHead,
    requestLine,
    RequestScan,
    responseHead,
} from "../../../../../../../chaos/kinds/attacks/fault/proxy/http-head";

const bytes = (text: string) => Buffer.from(text, "latin1");
const none: Body = { kind: "length", bytes: 0 };
const rest: Body = { kind: "rest" };
const chunked: Body = { kind: "chunked" };

describe("a head ends", () => {
    it.each([
        ["GET / HTTP/1.1\r\n\r\nbody", 18],
        ["\r\n\r\nGET / HTTP/1.1\r\nA: b\r\n\r\n", 28],
        ["GET / HTTP/1.1\nA: b\n\nbody", 21],
        ["GET / HTTP/1.1\r\nA: b\r\n", undefined],
        ["", undefined],
    ])("in %j at %s", (text, end) => expect(new HeadEnd().find(bytes(text))).toBe(end));
});

describe("however the bytes of a head are cut, each is looked at once, and", () => {
    const line = fc.stringMatching(/^[ a:\r]{0,4}$/);
    const heads = fc
        .tuple(fc.constantFrom("", "\n", "\r\n\n"), fc.array(line), fc.constantFrom("\n", "\r\n"))
        .map(([before, lines, end]) => `${before}${["GET / HTTP/1.1", ...lines, "", "more"].join(end)}`);

    it.each([
        ["the end is where it is in all of them", () => new HeadEnd(), (one: HeadEnd, all: Buffer) => one.find(all)],
        [
            "of a request, too",
            () => new RequestScan(),
            (one: RequestScan, all: Buffer) => {
                const found = one.look(all);
                return found === "more" ? undefined : found;
            },
        ],
    ])("%s", (_, make, look) => {
        fc.assert(
            fc.property(heads, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, cuts) => {
                const all = bytes(text);
                const scan = make();
                let found: number | string | undefined;
                for (let [at, index] = [0, 0]; at < all.length && found === undefined; index++) {
                    at += cuts[index % cuts.length]!;
                    found = look(scan as never, all.subarray(0, at));
                }
                expect(found).toBe(look(make() as never, all));
            }),
        );
    });

    it("a head of 64 KiB takes no time, whatever it is made of", () => {
        for (const begin of [
            `GET a${" ".repeat(60_000)}x HTTP/1.1\r\n`,
            "GET / HTTP/1.1\n",
            "GET a",
            "BAN ",
            "b".repeat(99),
        ]) {
            const all = bytes(begin + "a\n".repeat(32_000)).subarray(0, 65_536);
            const scan = new RequestScan();
            const begun = performance.now();
            for (let length = 1; length < all.length; length++) scan.look(all.subarray(0, length));
            expect(performance.now() - begun).toBeLessThan(1_000);
        }
    });
});

it("a request's first line has a method, a target and a version, with any number of spaces between", () => {
    const parts = fc.array(
        fc.constantFrom("GET", "M-S", "b_a`N!", "(", " ", "  ", "/a", "\r", "\t", "\xa0", "HTTP/1.1", "HTTP/1.", "0"),
    );
    fc.assert(
        fc.property(parts, (some) => {
            const line = some.join("");
            const [, method, target, minor] = /^([\w!#$%&'*+.^`|~-]+) +(\S.*?) +HTTP\/1\.(\d)$/.exec(line) ?? [];
            expect(requestLine(line)).toEqual(method && { method, target, minor: Number(minor) });
        }),
        { numRuns: 2_000 },
    );
});

describe("first bytes can become a request", () => {
    it.each([
        "",
        "\r\n",
        "G",
        "GET",
        "GET ",
        "GET /a",
        "PATCH /a HTTP/1.",
        "\r\nGET / HTTP/1.1\r\n",
        "M-SEARCH * HTTP/1.1\n",
        "GETS",
        "ban /a",
        "QUERY /a HTTP/1.1\r\n",
        "!#$%&'*+-.^_`|~09 /a HTTP/1.1\r\n",
        "SELECT 1",
        "A".repeat(128),
    ])("if they are %j", (text) => expect(new RequestScan().look(bytes(text))).toBe("more"));
    it.each([
        ...["HELLO\r\n", "\x16\x03\x01", "PRI * HTTP/2.0\r\n", "GET key\r\n", "SELECT 1\n", " GET", "AMQP\0", "*3\r"],
        ...["BAN\t/ HTTP/1.1\r\n", "b(n / HTTP/1.1", "A".repeat(129), "set key 0 0 5\r\nhello\r\n"],
    ])("but not if they are %j", (text) => expect(new RequestScan().look(bytes(text))).toBe("other"));

    it("and are doubtful until the first line is there, unless Node.js knows the method", () => {
        const doubtful = (text: string) => {
            const scan = new RequestScan();
            scan.look(bytes(text));
            return scan.doubtful;
        };
        expect(["ruok", "BAN /a", "BAN /a HTTP/1.1\r\n", "G", "GET /a", "\r\n", "PRI * H"].map(doubtful)).toEqual([
            ...[true, true, false],
            ...[false, false, false, false],
        ]);
    });
});

describe("a request's body", () => {
    it.each<[string, string[], Body]>([
        ["is none without a length", ["Host: a"], none],
        ["has the length", ["Content-LENGTH: 12"], { kind: "length", bytes: 12 }],
        ["has a length that is said twice", ["Content-Length: 12, 12"], { kind: "length", bytes: 12 }],
        ["is in chunks, whatever its length says", ["Content-Length: 12", "Transfer-Encoding:chunked"], chunked],
        ["is unclear with two lengths", ["Content-Length: 1", "Content-Length: 2"], rest],
        ["is unclear with a length that is no number", ["Content-Length: 0x10"], rest],
        ["is unclear with another coding", ["Transfer-Encoding: chunked, gzip"], rest],
    ])("%s", (_, headers, body) => {
        const head = bytes(["POST /a HTTP/1.1", ...headers, "", ""].join("\r\n"));
        expect(requestHead(head)).toMatchObject({ method: "POST", body });
    });
});

describe("an answer's body", () => {
    const of = (status: string, method: string, ...headers: string[]) =>
        responseHead(bytes([`HTTP/1.1 ${status}`, ...headers, "", ""].join("\r\n")), method)?.body;

    it.each<[string, Body | undefined, Body | undefined]>([
        ["lasts to the end without a length", of("200 OK", "GET"), rest],
        ["of HEAD is none", of("200 OK", "HEAD", "Content-Length: 5"), none],
        ["of status 304 is none", of("304 Same", "GET", "Transfer-Encoding: chunked"), none],
        ["of status 204 is none", of("204", "GET"), none],
        ["of one that informs is none", of("103 Hints", "GET"), none],
        ["after 101 is something else", of("101 Switching", "GET"), rest],
        ["after CONNECT is something else", of("200 OK", "CONNECT", "Content-Length: 5"), rest],
        [
            "of a refused CONNECT has its length",
            of("403 No", "CONNECT", "Content-Length: 5"),
            { kind: "length", bytes: 5 },
        ],
        ["is unclear of what is no answer", of("yes", "GET"), undefined],
    ])("%s", (_, body, expected) => expect(body).toEqual(expected));
});

it("the last answer of a connection says so, and else stays as it was", () => {
    const head = "HTTP/1.1 200 OK\r\nX-a: 1\r\nconnection: Keep-Alive\r\nKeep-alive: timeout=5\r\nx-A: 2\r\n\r\n";
    const changed = "HTTP/1.1 200 OK\r\nConnection: close\r\nX-a: 1\r\nx-A: 2\r\n\r\n";
    expect(closing(bytes(head)).toString("latin1")).toBe(changed);
});

describe("a body in chunks", () => {
    const bodies = fc.tuple(fc.array(fc.string({ minLength: 1, maxLength: 40 })), fc.array(fc.constant("X-a: b\r\n")));
    const encode = ([parts, trailers]: [string[], string[]]) => {
        const chunks = parts
            .map(bytes)
            .map((part) => `${part.length.toString(16)};x="y"\r\n${part.toString("latin1")}\r\n`);
        return bytes(`${chunks.join("")}0\r\n${trailers.join("")}\r\n`);
    };

    it("ends where it ends, however its bytes are cut", () => {
        fc.assert(
            fc.property(bodies, fc.array(fc.nat(30)), (body, cuts) => {
                const encoded = encode(body);
                const wire = Buffer.concat([encoded, bytes("GET / HTTP/1.1\r\n\r\n")]);
                const chunks = new Chunks();
                let at = 0;
                for (let index = 0; !chunks.complete; index++) {
                    const piece = wire.subarray(at, at + 1 + (cuts[index % (cuts.length || 1)] ?? 0));
                    at += chunks.scan(piece);
                }
                expect(at).toBe(encoded.length);
            }),
        );
    });

    it.each(["xyz\r\n", "\r\n", "1\r\nab\r\n", "-1\r\n", "f".repeat(20), "1".repeat(70_000)])(
        "is none if it begins with %.10j",
        (text) => {
            const chunks = new Chunks();
            const scanned = chunks.scan(bytes(`${text}\r\n0\r\n\r\n`));
            expect([scanned, chunks.complete]).toEqual([0, false]);
        },
    );
});
