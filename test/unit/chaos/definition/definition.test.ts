import { attackKinds } from "../../../../chaos/kinds/attacks/registry";
import { checkKinds } from "../../../../chaos/kinds/checks/registry";
import { describe, expect, it } from "vitest";
import { mistakesIn } from "../../../../chaos/definition/definition";

const attack = { kind: "blackhole", target: "k8s.deployment=hot-deals" };
const right = { hypothesis: "It holds.", attacks: [attack] };
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as unknown as string;

const http = { kind: "http", path: "/" };
const prometheus = { kind: "prometheus", query: "up", service: "prometheus" };
const condition = { kind: "condition", of: { apiVersion: "apps/v1", kind: "Deployment", name: "orders" } };
/** A mistake in a check, the check, and how its mistakes begin after `checks.0.`, as regular expressions. */
const from = { secret: "keys", key: "key" };
const checkMistakes: [string, object, ...string[]][] = [
    ["a Service and a URL", { ...http, url: "http://a", service: "b" }, "service: excludes `url`"],
    ["a URL that is relative", { ...http, url: "/shop" }, "url: not an absolute URL; allowed: http://"],
    ["a URL of another scheme", { ...http, url: "ftp://a" }, "url: has another scheme; allowed: http://"],
    [
        "a password in a URL",
        { ...http, url: "http://a:b@c" },
        "url: has a user or a password; secrets must not be in a definition: .*headersFrom",
    ],
    ["a query in a URL", { ...http, url: "http://a/?b" }, "url: has a query .*path of the check"],
    ["a port of no Service", { ...http, port: 80 }, "port: needs `service`"],
    ["a port beside a URL", { ...http, url: "http://a", port: 80 }, "port: .* part of the URL"],
    [
        "a port that cannot be",
        { ...http, service: "a", port: 0 },
        "port: not a port; allowed: a number from 1 to 65535",
    ],
    ["a scheme of no Service", { ...http, scheme: "https" }, "scheme: needs `service`"],
    [
        "a namespace of nothing",
        { ...http, namespace: "a" },
        "namespace: is that of `service`, `headersFrom`, .* or `caFrom`, and there is none",
    ],
    ["a name that is none", { ...http, service: "My Shop" }, 'service: "My Shop" is not allowed; allowed: lower-case'],
    ["a CA without HTTPS", { ...http, service: "a", caFrom: { name: "b" } }, "caFrom: needs HTTPS; allowed with"],
    ["a CA that is none", { ...http, url: "https://a", ca: "CA" }, "ca: holds no certificate; allowed: PEM"],
    ["a private key", { ...http, url: "https://a", ca: "-----BEGIN PRIVATE KEY-----" }, "ca: holds a private key"],
    [
        "a header twice",
        { ...http, headers: { "x-a": "1" }, headersFrom: { "X-A": { secret: "b", key: "c" } } },
        "headersFrom\\.X-A: is in `headers`, too",
    ],
    [
        "a header that is none",
        { ...http, headersFrom: { "a b": { secret: "b", key: "c" } } },
        "headersFrom\\.a b: not a",
    ],
    ["headers of nothing", { ...http, headers: null, headersFrom: null }, "headers: is null", "headersFrom: is null"],
    ["a path out of its Service", { ...http, path: "/a/%2E./b" }, "path: must not have the segments"],
    ["a fragment", { ...http, path: "/a#b" }, "path: a fragment is never sent; write # as %23"],
    ["a backslash", { ...http, path: "/a\\b?c" }, "path: .* write it as %5C"],
    [
        "a credential in a query",
        { ...http, path: "/a?q=1&access_%74oken=s3cr3t" },
        "path: has a value of access_token; secrets must not be in a definition: .* use queryFrom with a Secret$",
    ],
    ["a credential in a path", { ...http, path: "/a;password=s3cr3t" }, "path: has a value of password; .*"],
    [
        "a credential in a body",
        { ...http, body: { login: { user: "a", password: "s3cr3t" } } },
        "body\\.login\\.password: has a value of password; .* use bodyFrom with a Secret$",
    ],
    [
        "a credential in a header",
        { ...http, headers: { "X-Via": "Bearer s3cr3t" } },
        "headers\\.X-Via: has an authorization",
    ],
    [
        "a secret that takes a value's place",
        { ...http, path: "/?sig=", body: { a: 1 }, queryFrom: { sig: from }, bodyFrom: { "a.b": from, "b.": from } },
        "bodyFrom\\.b\\.: not a field",
        "queryFrom: the request has the parameter sig already",
        "bodyFrom: `body` has a value at a already",
    ],
    [
        "a secret for a parameter of Prometheus' API",
        { ...prometheus, atMost: 1, queryFrom: { query: from } },
        "queryFrom: the request has the parameter query already",
    ],
    [
        "a credential among the arguments of a command",
        { kind: "command", command: ["curl", "-H", "Authorization: Bearer s3cr3t"] },
        "command: has an authorization; .* set a variable where the update runs",
    ],
    [
        "a credential in a variable",
        { kind: "command", command: ["a"], env: { DATABASE: "postgres://a:s3cr3t@db" } },
        "env\\.DATABASE: has a URL with a password; .* set a variable where the update runs",
    ],
    ["a status as text", { ...http, status: "200" }, 'status: "200" is not allowed; allowed: a status from 100'],
    [
        "statuses in reverse",
        { ...http, status: [299, 200] },
        "status: a list is not allowed; .* the least and the most",
    ],
    ["JSON of an answer without a body", { ...http, method: "HEAD", json: [{ path: "a" }] }, "json: an answer to HEAD"],
    ["a body that is no JSON", { ...http, body: { at: new Date() } }, "body: holds what JSON does not know"],
    [
        "a field equal to null",
        { ...condition, field: "a", equals: null },
        "equals: null is not allowed; allowed: text, a",
    ],
    [
        "several mistakes in a check",
        { ...http, url: 5, service: "B", port: 80, path: "a", serverName: "c" },
        "path: not a path",
        "url: ",
        'service: "B"',
        "service: excludes",
        "serverName: needs HTTPS",
    ],
    [
        "a query of nothing",
        { kind: "prometheus", query: "up", atLeast: 1 },
        "url: missing; allowed: the `url` of Prometheus",
    ],
    ["a query without limits", prometheus, "atLeast: missing; allowed: atLeast, atMost, both of them, or equals"],
    ["limits that exclude each other", { ...prometheus, equals: 1, atMost: 2 }, "equals: excludes"],
    [
        "limits that nothing meets",
        { ...prometheus, atLeast: 3, atMost: 2 },
        "atMost: 2 is less than atLeast, which is 3",
    ],
    ["neither condition nor field", condition, "type: missing; allowed: the `type` of a condition, or a `field`"],
    [
        "a condition and a field",
        { ...condition, type: "Ready", field: "a", atLeast: 1 },
        "field: excl",
        "atLeast: excl",
    ],
    ["a field without limits", { ...condition, field: "a" }, "atLeast: missing"],
    ["a status of a field", { ...condition, field: "a", equals: 1, status: "True" }, "status: .* needs `type`"],
    [
        "a look into a Secret",
        { ...condition, of: { apiVersion: "v1", kind: "Secret", name: "a" }, field: "data", equals: "a" },
        "of\\.kind: Secrets are not read: the state and journals would show",
    ],
    [
        "an apiVersion that is none",
        { ...condition, of: { ...condition.of, apiVersion: "apps" }, type: "A" },
        "of\\.apiVersion: not",
    ],
    ["a command that is empty", { kind: "command", command: [] }, "command: missing; allowed: a program"],
    ["a command for a shell", { kind: "command", command: "a && b" }, "command: "],
    [
        "a secret in the environment of a command",
        { kind: "command", command: ["a"], env: { DB_PASSWORD: "x" } },
        "env\\.DB_PASSWORD: has a value of DB_PASSWORD; secrets must not be .* environment the program inherits",
    ],
];

const anyOf = (kinds: readonly string[]) =>
    new Intl.ListFormat("en-GB", { type: "disjunction" }).format(kinds.map((kind) => `"${kind}"`));

describe("a definition", () => {
    it.each([
        { ...http, url: "https://shop.example/api", serverName: "shop.example", caFrom: { name: "ca" } },
        { ...http, service: "orders", namespace: "shop", port: "web", scheme: "https" },
        { ...http, path: "/files//%2F/?of=/a/../b\\c?;&x=" },
        { ...http, headersFrom: { Authorization: { secret: "a", key: "b", prefix: "Bearer ", namespace: "c" } } },
        {
            ...http,
            path: "/?page_token=5",
            queryFrom: { token: from },
            body: { user: "a" },
            bodyFrom: { "login.pw": from },
        },
        { ...prometheus, atMost: 1, allowEmpty: true, queryFrom: { apikey: from } },
        { kind: "command", command: ["sh", "-c", 'curl -H "Authorization: Bearer $TOKEN" http://shop'] },
        { ...condition, type: "Available" },
        { ...condition, field: "status.readyReplicas", atLeast: 2, ifMissing: 0 },
        { kind: "command", command: ["./check.sh", "a"], exitCode: 1, env: { LIMIT_MS: "5" } },
    ])("may have the check %o", (check) => expect(mistakesIn({ ...right, checks: [check] })).toEqual([]));

    it.each([{}, { direction: "ingress" }, { ports: [80] }])("may want established connections cut with %o", (fields) =>
        expect(mistakesIn({ ...right, attacks: [{ ...attack, ...fields, established: "cut" }] })).toEqual([]),
    );

    it.each([{}, { ports: [80] }])("may leave outward unproven with %o", (fields) =>
        expect(mistakesIn({ ...right, attacks: [{ ...attack, ...fields, outward: "unproven" }] })).toEqual([]),
    );

    it("is rejected if its name is too long for its objects' names", () => {
        expect(mistakesIn(right, "x".repeat(45))).toEqual([]);
        expect(mistakesIn(right, "x".repeat(46))).toEqual(["its name: has 46 characters; allowed: at most 45"]);
    });

    it.each<[string, object, string[]]>([
        [
            "an unknown attack",
            { attacks: [{ ...attack, kind: "blackhol" }] },
            [`attacks.0.kind: is "blackhol"; allowed: ${anyOf(attackKinds)}`],
        ],
        [
            "a target that is not an expression",
            { attacks: [{ ...attack, target: "hot-deals" }] },
            [matching(/^attacks\.0\.target: .*hot-deals/)],
        ],
        [
            "a target in several namespaces",
            { attacks: [{ ...attack, target: "k8s.namespace=a|b" }] },
            [matching(/^attacks\.0\.target: .*exactly one namespace/)],
        ],
        [
            "a radius of 0",
            { attacks: [{ ...attack, radius: 0 }] },
            [matching(/^attacks\.0\.radius: 0 is not a radius; allowed: a whole number/)],
        ],
        [
            "a radius of more than 100%",
            { attacks: [{ ...attack, radius: "200%" }] },
            [matching(/^attacks\.0\.radius: "200%" is not a radius; allowed/)],
        ],
        ["no hypothesis", { hypothesis: " " }, [matching(/^hypothesis: /)]],
        ["a port that does not exist", { attacks: [{ ...attack, ports: [0] }] }, [matching(/^attacks\.0\.ports\.0: /)]],
        [
            "a property that its attack does not have",
            { attacks: [{ ...attack, kind: "dns", ports: [53] }] },
            [matching(/"ports"/)],
        ],
        [
            "peers that are not an expression",
            { attacks: [{ ...attack, peers: "database" }] },
            [matching(/^attacks\.0\.peers: .*database/)],
        ],
        ...(
            [
                [5, /^attacks\.0\.peers: .*allowed: a target, or addresses: \{ host, port \} or \{ cidr, except \}$/],
                [[], /^attacks\.0\.peers: /],
                [{}, /^attacks\.0\.peers: host: is missing/],
                [{ host: "api.example.com" }, /^attacks\.0\.peers: port: is missing; allowed: a number/],
                [{ host: "a b", port: 443 }, /^attacks\.0\.peers\.host: "a b" is not a host; allowed: a host name/],
                [{ host: "https://a.example", port: 443 }, /^attacks\.0\.peers\.host: .* is not a host; allowed/],
                [{ host: "203.0.113", port: 443 }, /^attacks\.0\.peers\.host: "203\.0\.113" is not a host; allowed/],
                [{ host: "a.example", port: 70_000 }, /^attacks\.0\.peers\.port: 70000 is not a port; allowed/],
                [{ host: "a.example", port: 443, cidr: "10.0.0.0/8" }, /^attacks\.0\.peers: .*"host" or "port"/],
                [
                    [{ cidr: "10.0.0.0" }, { host: "10.0.0.1", port: 443 }],
                    /^attacks\.0\.peers\.0\.cidr: "10\.0\.0\.0" is not a block of addresses/,
                ],
                [
                    [
                        { cidr: "10.0.0.0/8", except: ["11.0.0.0/8"] },
                        { host: "10.0.0.1", port: 443 },
                    ],
                    /^attacks\.0\.peers\.0\.except\.0: "11\.0\.0\.0\/8" is not a part of .*; allowed: a smaller/,
                ],
                [
                    { cidr: "203.0.113.0/24" },
                    /^attacks\.0\.peers: nothing is known to answer in 203\.0\.113\.0\/24, .*with a host in it/,
                ],
                [
                    [{ cidr: "203.0.113.0/24" }, { host: "192.0.2.1", port: 443 }],
                    /^attacks\.0\.peers: nothing is known to answer in 203\.0\.113\.0\/24/,
                ],
            ] as [unknown, RegExp][]
        ).map(([peers, message]): [string, object, string[]] => [
            `the addresses ${JSON.stringify(peers)} as peers`,
            { attacks: [{ ...attack, peers }] },
            [matching(message)],
        ]),
        ...(
            [
                [
                    { direction: "both" },
                    /^attacks\.0\.direction: "both" cannot be proven .* allowed: "egress", or leave/,
                ],
                [{ ports: [443] }, /^attacks\.0\.ports: is for blocks of addresses.*allowed: a host's `port`$/],
                [
                    { control: { host: "a.example", port: 443 } },
                    /^attacks\.0\.control: a\.example at port 443 is among/,
                ],
                [{ control: { host: "b.example" } }, /^attacks\.0\.control\.port: is missing; allowed: a number/],
            ] as [object, RegExp][]
        ).map(([fields, message]): [string, object, string[]] => [
            `a host as peers and ${JSON.stringify(fields)}`,
            { attacks: [{ ...attack, peers: { host: "a.example", port: 443 }, ...fields }] },
            [matching(message)],
        ]),
        [
            "a port of blocks at which no host is named that may answer there",
            {
                attacks: [
                    {
                        ...attack,
                        ports: [5432],
                        peers: [
                            { cidr: "203.0.113.0/24" },
                            { host: "203.0.113.7", port: 443 },
                            { host: "a.example", port: 80 },
                        ],
                    },
                ],
            },
            [
                matching(
                    /^attacks\.0\.peers: .* 203\.0\.113\.0\/24 at port 5432, .* a host in it, \{ host, port: 5432 \}$/,
                ),
            ],
        ],
        [
            "a control without addresses as peers",
            { attacks: [{ ...attack, control: { host: "a.example", port: 443 } }] },
            [matching(/^attacks\.0\.control: is for addresses as `peers`/)],
        ],
        ...[{ kind: "dns" }, { kind: "kill" }, { direction: "egress" }, { peers: "k8s.deployment=database" }].map(
            (fields): [string, object, string[]] => [
                `established connections that must be cut, which nothing shows, and ${JSON.stringify(fields)}`,
                { attacks: [{ ...attack, established: "cut", ...fields }] },
                [matching(/^attacks\.0\.established: "cut" can be shown only for a blackhole of .*: any$/)],
            ],
        ),
        ...[
            { kind: "dns" },
            { kind: "kill" },
            { direction: "egress" },
            { direction: "ingress" },
            { peers: "k8s.deployment=database" },
        ].map((fields): [string, object, string[]] => [
            `outward unproven, where nothing else would prove the attack, and ${JSON.stringify(fields)}`,
            { attacks: [{ ...attack, outward: "unproven", ...fields }] },
            [matching(/^attacks\.0\.outward: "unproven" is allowed only for a blackhole of .*: proven$/)],
        ]),
        [
            "established connections that must be something else",
            { attacks: [{ ...attack, established: "gone" }] },
            [matching(/^attacks\.0\.established: .*"any" or "cut"/)],
        ],
        ["a misspelled property", { atacks: [] }, [matching(/"atacks"/)]],
        [
            "pods killed too often",
            { attacks: [{ ...attack, kind: "kill", intervalMs: 10 }] },
            [matching(/^attacks\.0\.intervalMs: .*1000/)],
        ],
        ["no check", { checks: [] }, [matching(/^checks: .*without a check/)]],
        [
            "a kill of pods that are not ready",
            { attacks: [{ kind: "kill", target: "k8s.deployment=hot-deals", includeNotReady: true, radius: 0 }] },
            [
                matching(/^attacks\.0\.radius: /),
                "attacks.0.includeNotReady: kill affects only pods that are ready; allowed: false, or leave it out",
            ],
        ],
        [
            "an unknown check",
            { checks: [{ kind: "ping" }] },
            [`checks.0.kind: is "ping"; allowed: ${anyOf(checkKinds)}`],
        ],
        [
            "a check without a path",
            { checks: [{ kind: "http", path: "products" }] },
            [matching(/^checks\.0\.path: .*\/products/)],
        ],
        [
            "a check of another host",
            { checks: [{ kind: "http", path: "//example.com/" }] },
            [matching(/^checks\.0\.path: /)],
        ],
        [
            "a secret in a check",
            { checks: [{ kind: "http", path: "/", headers: { Authorization: "Bearer x" } }] },
            [matching(/^checks\.0\.headers\.Authorization: has a value of Authorization; secrets must not be/)],
        ],
        ...checkMistakes.map(([what, check, ...mistakes]): [string, object, string[]] => [
            what,
            { checks: [check] },
            mistakes.map((mistake) => matching(new RegExp(`^checks\\.0\\.${mistake}`))),
        ]),
        [
            "a success rate of 0",
            { checks: [{ kind: "http", path: "/", successRate: 0 }] },
            [matching(/^checks\.0\.successRate: /)],
        ],
        [
            "an abort limit that is not a percentage",
            { checks: [{ kind: "http", path: "/", abortBelow: "0.5" }] },
            [
                'checks.0.abortBelow: "0.5" is not a percentage; allowed: a percentage above 0% and up to 100%, ' +
                    "such as 50%",
            ],
        ],
        [
            "an abort limit above the required success rate",
            { checks: [{ kind: "http", path: "/", abortBelow: "80.5%", successRate: 0.8 }] },
            [
                "checks.0.abortBelow: the attacks would end below 80.5%, in a run that passes with 80%, the required " +
                    "success rate; allowed: at most 80%",
            ],
        ],
        [
            "an abort time that is not a duration",
            { checks: [{ kind: "podsReady", of: "k8s.deployment=a", abortBelow: "50%", abortOver: "10" }] },
            ['checks.0.abortOver: "10" is not allowed; allowed: a duration from 1s to 1h, such as 10s'],
        ],
        [
            "an abort time of one answer",
            { checks: [{ kind: "http", path: "/", abortBelow: "50%", abortOver: "1s", perSecond: 1 }] },
            [matching(/^checks\.0\.abortOver: .* one answer at an interval of 1 s; allowed: more than the interval/)],
        ],
        [
            "two checks of the same name",
            {
                checks: [
                    { kind: "http", path: "/" },
                    { kind: "http", path: "/" },
                ],
            },
            [matching(/^checks\.1\.name: another check is named "\/"/)],
        ],
        [
            "ready pods that are not an expression",
            { checks: [{ kind: "podsReady", of: "hot-deals" }] },
            [matching(/^checks\.0\.of: /)],
        ],
        [
            "an unknown action",
            { actions: [{ kind: "dance" }] },
            [matching(/^actions\.0\.kind: is "dance"; allowed: "wait", .*"rollout"/)],
        ],
        [
            "a scale to too many replicas",
            { actions: [{ kind: "scale", deployment: "hot-deals", replicas: 5_000 }] },
            [matching(/^actions\.0\.replicas: .*100/)],
        ],
        [
            "a scale of something that cannot be a Deployment",
            { actions: [{ kind: "scale", deployment: "Hot Deals", replicas: 2 }] },
            [matching(/^actions\.0\.deployment: .*allowed: lower-case/)],
        ],
    ])("with %s is rejected, and the mistake says what is allowed", (_, changes, mistakes) =>
        expect(mistakesIn({ ...right, ...changes })).toEqual(mistakes),
    );

    it("with several mistakes is rejected with all of them at once", () => {
        const wrong = {
            attacks: [{ kind: "blackhole", target: "x", radius: "none" }, { kind: "burn" }],
            checks: [],
            actions: [{ kind: "wait", durationMs: -1 }],
        };
        expect(mistakesIn(wrong)).toHaveLength(6);
    });
});
