import { attackKinds } from "../../../../chaos/kinds/attacks/registry";
import { checkKinds } from "../../../../chaos/kinds/checks/registry";
import { describe, expect, it } from "vitest";
import { mistakesIn } from "../../../../chaos/definition/definition";

const attack = { kind: "blackhole", target: "k8s.deployment=hot-deals" };
const right = { hypothesis: "It holds.", attacks: [attack] };
const anyOf = (kinds: readonly string[]) =>
    new Intl.ListFormat("en-GB", { type: "disjunction" }).format(kinds.map((kind) => `"${kind}"`));

const http = { kind: "http", path: "/" };
const prometheus = { kind: "prometheus", query: "up", service: "prometheus" };
const condition = { kind: "condition", of: { apiVersion: "apps/v1", kind: "Deployment", name: "orders" } };
const from = { secret: "keys", key: "key" };
const posted = { ...http, body: { user: "a" } };

/** What is wrong, the item, and how its mistakes begin after the item's place, as regular expressions. */
type Mistake = [what: string, item: object, ...mistakes: string[]];

const checkMistakes: Mistake[] = [
    ["an unknown kind", { kind: "ping" }, `kind: is "ping"; allowed: ${anyOf(checkKinds)}$`],
    ["a path without a slash", { ...http, path: "products" }, "path: .*/products"],
    ["a path of another host", { ...http, path: "//example.com/" }, "path: "],
    ["a success rate of 0", { ...http, successRate: 0 }, "successRate: "],
    ["an abort limit in no percent", { ...http, abortBelow: "0.5" }, 'abortBelow: "0.5" .* up to 100%, such as 50%$'],
    [
        "an abort limit above the required success rate",
        { ...http, abortBelow: "80.5%", successRate: 0.8 },
        "abortBelow: the attacks would end below 80.5%, in a run that passes with 80%, .*; allowed: at most 80%$",
    ],
    [
        "an abort time that is no duration",
        { ...http, abortBelow: "50%", abortOver: "10" },
        'abortOver: "10" is not allowed; allowed: a duration from 1s to 1h, such as 10s$',
    ],
    [
        "an abort time of one answer",
        { ...http, abortBelow: "50%", abortOver: "1s", perSecond: 1 },
        "abortOver: .* one answer at an interval of 1 s; allowed: more than the interval",
    ],
    [
        "a confidence of no limits",
        { ...http, confidence: { level: "95" } },
        "confidence\\.atLeast: is missing; allowed: a percentage above 0% and below 100%, such as 99%$",
        'confidence\\.level: "95" is not allowed; allowed: a percentage of at least 50% and below 100%, such as 95%$',
    ],
    [
        "a confidence that no number of answers gives",
        { ...http, confidence: { atLeast: "100%", level: "100%" } },
        'confidence\\.atLeast: "100%" is not',
        'confidence\\.level: "100%" is not',
    ],
    [
        "a confidence written as the setting is",
        { ...http, confidence: "99%" },
        'confidence: "99%" is not allowed; allowed: an object, such as \\{ atLeast: "99%" \\}$',
    ],
    [
        "a level that would read as 100%",
        { ...http, confidence: { atLeast: "99%", level: "99.99999999%" } },
        'confidence\\.level: "99.99999999%" is not',
    ],
    [
        "a confidence that no window gives",
        { ...http, confidence: { atLeast: "99.9999%" } },
        "confidence: to show 99\\.9999% with 95% confidence takes 2995731 good answers, and the longest " +
            "window has 180000, in 60 min with an interval of 20 ms; allowed: an atLeast of at most 99\\.998%$",
    ],
    [
        "a confidence above the required success rate",
        { ...http, confidence: { atLeast: "90%" }, successRate: 0.8 },
        "confidence: a run that passes with 80%, the required success rate, may not show 90%; allowed: an atLeast of " +
            "at most 80%$",
    ],
    [
        "a confidence of a state",
        { kind: "podsReady", of: "k8s.deployment=a", confidence: { atLeast: "90%" } },
        "confidence: podsReady reads a state, and reading it more often shows no more; allowed: for http, grpc and " +
            "command$",
    ],
    [
        "a factor without its sign",
        { ...http, latency: { p95: { atMost: "2" } } },
        'latency\\.p95\\.atMost: "2" is not a limit; allowed: a factor from 1x to 1000x, such as 2x, or a time more, ' +
            "such as \\+200ms$",
    ],
    [
        "a limit of nothing",
        { ...http, latency: {} },
        'latency: is empty; allowed: p50, p95 or p99, such as \\{ p95: \\{ atMost: "2x" \\} \\}$',
    ],
    [
        "a latency written as the setting is",
        { ...http, latency: "p95=2x" },
        'latency: "p95=2x" is not allowed; allowed: an object, such as \\{ p95: \\{ atMost: "2x" \\} \\}$',
    ],
    [
        "a drop of nothing",
        { ...http, successRate: { dropAtMost: "0.01%" } },
        'successRate\\.dropAtMost: "0\\.01%" is not a drop; allowed: a percentage from 0\\.1% and below 100%$',
    ],
    [
        "a quantile that is not limited",
        { ...http, latency: { p90: { atMost: "2x" } } },
        'latency: there is no field "p90" here$',
    ],
    [
        "a key beside a limit",
        { ...http, latency: { p95: { atMost: "2x", atLeast: "1x" } } },
        'latency\\.p95: there is no field "atLeast" here$',
    ],
    [
        "a drop as a number",
        { ...http, successRate: { dropAtMost: 0.01 } },
        "successRate\\.dropAtMost: 0\\.01 is not a drop; allowed: a percentage from 0\\.1% and below 100%$",
    ],
    [
        "a key beside a drop",
        { ...http, successRate: { dropAtMost: "1%", atMost: 1 } },
        'successRate: there is no field "atMost" here$',
    ],
    [
        "a misspelled drop",
        { ...http, successRate: { dropAtmost: "1%" } },
        "successRate\\.dropAtMost: is missing; allowed: a percentage from 0\\.1% and below 100%$",
        'successRate: there is no field "dropAtmost" here$',
    ],
    ["a list of rates", { ...http, successRate: [1] }, "successRate: a list is not allowed; allowed: a number above 0"],
    [
        "a key beside a confidence",
        { ...http, confidence: { atLeast: "90%", atMost: "95%" } },
        'confidence: there is no field "atMost" here$',
    ],
    [
        "a latency of a state",
        { kind: "podsReady", of: "k8s.deployment=a", latency: { p50: { atMost: "2x" } } },
        "latency: podsReady reads a state, which is not compared; allowed: for http, grpc and command$",
    ],
    ["ready pods of no expression", { kind: "podsReady", of: "hot-deals" }, "of: "],
    ["a Service and a URL", { ...http, url: "http://a", service: "b" }, "service: excludes `url`"],
    ["a URL that is relative", { ...http, url: "/shop" }, "url: not an absolute URL; allowed: http://"],
    ["a URL of another scheme", { ...http, url: "ftp://a" }, "url: has another scheme; allowed: http://"],
    ["a password in a URL", { ...http, url: "http://a:b@c" }, "url: has a user or a password; secrets .*headersFrom"],
    ["a query in a URL", { ...http, url: "http://a/?b" }, "url: has a query .*path of the check"],
    ["a port of no Service", { ...http, port: 80 }, "port: needs `service`"],
    ["a port beside a URL", { ...http, url: "http://a", port: 80 }, "port: .* part of the URL"],
    [
        "a port that cannot be",
        { ...http, service: "a", port: 0 },
        "port: 0 is not a port; allowed: a number from 1 to 65535, or the name of a port of the Service$",
    ],
    ["a port's name that cannot be", { ...http, service: "a", port: "Web" }, 'port: "Web" is not a port; allowed: a n'],
    ["no rate", { ...http, perSecond: 0, abortBelow: "50%" }, "perSecond: is 0; allowed: at least 1$"],
    ["a time as text", { ...http, timeoutMs: "5s" }, 'timeoutMs: is "5s"; allowed: a number of milliseconds$'],
    ["a rate as text", { ...http, perSecond: "10" }, 'perSecond: is "10"; allowed: a number$'],
    ["headers as a list", { ...http, headers: [{ a: "b" }] }, "headers: is a list; allowed: an object$"],
    ...["$.status.replicas", "$", ".status.replicas", "{.status.replicas}"].map((field): Mistake => [
        `the path ${field} of a field`,
        { ...condition, field, atLeast: 1 },
        "field: .* is not a path; allowed: as in status\\.readyReplicas$",
    ]),
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
        { ...http, headers: { "x-a": "1" }, headersFrom: { "X-A": from } },
        "headersFrom\\.X-A: is in `headers`, too",
    ],
    ["a header that is none", { ...http, headersFrom: { "a b": from } }, "headersFrom\\.a b: not a"],
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
        "a credential by a header's name",
        { ...http, headers: { Authorization: "Bearer x" } },
        "headers\\.Authorization: has a value of Authorization; secrets must not be",
    ],
    ["one by its value", { ...http, headers: { "X-Via": "Bearer s3cr3t" } }, "headers\\.X-Via: has an authorization"],
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
    [
        "limits of JSON that nothing meets",
        { ...http, json: [{ path: "a" }, { path: "b", atLeast: 30, atMost: 20 }] },
        "json\\.1\\.atMost: 20 is less than atLeast, which is 30",
    ],
    [
        "limits of JSON that exclude each other",
        { ...http, json: [{ path: "a", equals: null, atLeast: 20 }] },
        "json\\.0\\.equals: excludes `atLeast` and `atMost`",
    ],
    ["a body that is no JSON", { ...http, body: { at: new Date() } }, "body: holds what JSON does not know"],
    [
        "a field equal to null",
        { ...condition, field: "a", equals: null },
        "equals: null is not allowed; allowed: text, a",
    ],
    [
        "several mistakes",
        { ...http, url: 5, service: "B", port: 80, path: "a", serverName: "c" },
        "path: not a path",
        "url: ",
        'service: "B"',
        "service: excludes",
        "serverName: needs HTTPS",
    ],
    [
        "a query of nothing",
        { ...prometheus, service: undefined, atLeast: 1 },
        "url: missing; allowed: the `url` of Prom",
    ],
    ["a query without limits", prometheus, "atLeast: missing; allowed: atLeast, atMost, both of them, or equals"],
    ["limits that exclude each other", { ...prometheus, equals: 1, atMost: 2 }, "equals: excludes"],
    [
        "limits that nothing meets",
        { ...prometheus, atLeast: 3, atMost: 2 },
        "atMost: 2 is less than atLeast, which is 3",
    ],
    ["neither condition nor field", condition, "type: missing; allowed: the `type` of a condition, or a `field`"],
    ["a condition and a field", { ...condition, type: "A", field: "a", atLeast: 1 }, "field: excl", "atLeast: excl"],
    ["a field without limits", { ...condition, field: "a" }, "atLeast: missing"],
    ["a status of a field", { ...condition, field: "a", equals: 1, status: "True" }, "status: .* needs `type`"],
    [
        "a look into a Secret",
        { ...condition, of: { apiVersion: "v1", kind: "Secret", name: "a" }, field: "data", equals: "a" },
        "of\\.kind: Secrets are not read: the state and journals would show",
    ],
    [
        "another apiVersion",
        { ...condition, of: { ...condition.of, apiVersion: "a" }, type: "A" },
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

const attackMistakes: Mistake[] = [
    ["an unknown kind", { kind: "blackhol" }, `kind: is "blackhol"; allowed: ${anyOf(attackKinds)}$`],
    ["a target that is no expression", { target: "hot-deals" }, "target: .*hot-deals"],
    ["a target in several namespaces", { target: "k8s.namespace=a|b" }, "target: .*exactly one namespace"],
    ["a radius of 0", { radius: 0 }, "radius: 0 is not a radius; allowed: a whole number"],
    ["a radius of more than 100%", { radius: "200%" }, 'radius: "200%" is not a radius; allowed'],
    ["a port that does not exist", { ports: [0] }, "ports\\.0: "],
    ["pods killed too often", { kind: "kill", intervalMs: 10 }, "intervalMs: .*1000"],
    [
        "a kill of pods that are not ready",
        { kind: "kill", includeNotReady: true, radius: 0 },
        "radius: ",
        "includeNotReady: kill affects only pods that are ready; allowed: false, or leave it out$",
    ],
    ["something else of established connections", { established: "gone" }, 'established: .*"any" or "cut"'],
    ...[{ kind: "dns" }, { kind: "kill" }, { direction: "egress" }, { peers: "k8s.deployment=database" }].map(
        (fields): Mistake => [
            `established connections cut, which nothing shows with ${JSON.stringify(fields)},`,
            { established: "cut", ...fields },
            'established: "cut" can be shown only for a blackhole of .*: any$',
        ],
    ),
    ...[
        { kind: "dns" },
        { kind: "kill" },
        { direction: "egress" },
        { direction: "ingress" },
        { peers: "k8s.job=a" },
    ].map((fields): Mistake => [
        `outward unproven, where nothing else proves the attack with ${JSON.stringify(fields)},`,
        { outward: "unproven", ...fields },
        'outward: "unproven" is allowed only for a blackhole of .*: proven$',
    ]),
    ...[[2], ["50%"], { percent: 50 }].map((radius): Mistake => [
        `the radius ${JSON.stringify(radius)}`,
        { radius },
        "radius: an? (?:list|object) is not a radius; allowed: a whole number",
    ]),
    ["a flag as text", { includeNotReady: "true" }, 'includeNotReady: is "true"; allowed: true or false$'],
    ["no time", { kind: "kill", intervalMs: 1000.5 }, "intervalMs: is 1000.5; allowed: a whole number of mill"],
    ["a namespace that cannot be", { target: "k8s.namespace=Shop" }, 'target: "Shop" in "k8s.namespace=Shop" cannot'],
    [
        "peers that cannot be",
        { peers: "k8s.deployment=a,k8s.deployment=b" },
        "peers: .* conditions of k8s.deployment exclude",
    ],
    [
        "a control without addresses as peers",
        { control: { host: "a.example", port: 443 } },
        "control: is for addresses as",
    ],
];

const block = { cidr: "203.0.113.0/24" };
const peerMistakes: [peers: unknown, mistake: string][] = [
    ["database", "peers: .*database"],
    [5, "peers: .*allowed: a target, or addresses: \\{ host, port \\} or \\{ cidr, except \\}$"],
    [[], "peers: "],
    [{}, "peers\\.host: is missing; allowed: text$"],
    [{ ...block, except: "203.0.113.0/25" }, 'peers\\.except: is "203\\.0\\.113\\.0/25"; allowed: a list$'],
    [{ host: "a b", port: 443 }, 'peers\\.host: "a b" is not a host; allowed: a host name'],
    [{ host: "https://a.example", port: 443 }, "peers\\.host: .* is not a host; allowed"],
    [{ host: "203.0.113", port: 443 }, 'peers\\.host: "203\\.0\\.113" is not a host; allowed'],
    [{ host: "a.example", port: 70_000 }, "peers\\.port: 70000 is not a port; allowed"],
    [{ host: "a.example", port: 443, cidr: "10.0.0.0/8" }, 'peers: there is no field "cidr" here$'],
    [[{ cidr: "10.0.0.0" }, { host: "10.0.0.1", port: 443 }], 'peers\\.0\\.cidr: "10\\.0\\.0\\.0" is not a block of'],
    [
        [
            { ...block, except: ["11.0.0.0/8"] },
            { host: "203.0.113.7", port: 443 },
        ],
        'peers\\.0\\.except\\.0: "11\\.0\\.0\\.0/8" is not a part of .*; allowed: a smaller',
    ],
    [block, "peers: nothing is known to answer in 203\\.0\\.113\\.0/24, .*with a host in it"],
    [[block, { host: "192.0.2.1", port: 443 }], "peers: nothing is known to answer in 203\\.0\\.113\\.0/24"],
];

const ofHost = { peers: { host: "a.example", port: 443 } };
const withPeers: [fields: object, mistake: string][] = [
    [{ ...ofHost, direction: "both" }, 'direction: "both" cannot be proven .* allowed: "egress", or leave'],
    [{ ...ofHost, ports: [443] }, "ports: is for blocks of addresses.*allowed: a host's `port`$"],
    [{ ...ofHost, control: ofHost.peers }, "control: a\\.example at port 443 is among"],
    [{ ...ofHost, control: { host: "b.example" } }, "control\\.port: is missing; allowed: a number"],
    // No host is named that may answer at this port in the block.
    [
        { ports: [5432], peers: [block, { host: "203.0.113.7", port: 443 }, { host: "a.example", port: 80 }] },
        "peers: .* 203\\.0\\.113\\.0/24 at port 5432, .* a host in it, \\{ host, port: 5432 \\}$",
    ],
];

const actionMistakes: Mistake[] = [
    ["an unknown kind", { kind: "dance" }, 'kind: is "dance"; allowed: "wait", .*"rollout"'],
    ["too many replicas", { kind: "scale", deployment: "hot-deals", replicas: 5_000 }, "replicas: .*100"],
    [
        "no Deployment's name",
        { kind: "scale", deployment: "Hot Deals", replicas: 2 },
        "deployment: .*allowed: lower-case",
    ],
];

describe("a definition", () => {
    it.each([
        { ...http, url: "https://shop.example/api", serverName: "shop.example", caFrom: { name: "ca" } },
        { ...http, service: "orders", namespace: "shop", port: "web", scheme: "https" },
        { ...http, path: "/files//%2F/?of=/a/../b\\c?;&x=" },
        { ...http, headersFrom: { Authorization: { secret: "a", key: "b", prefix: "Bearer ", namespace: "c" } } },
        { ...posted, path: "/?page_token=5", queryFrom: { token: from }, bodyFrom: { "login.pw": from } },
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

    const areMistakes = (changes: object, place: string, mistakes: string[]) =>
        expect(mistakesIn({ ...right, ...changes })).toEqual(
            mistakes.map((mistake): unknown => expect.stringMatching(new RegExp(`^${place}${mistake}`))),
        );

    describe("is rejected, and the mistake says what is allowed, with", () => {
        it.each(checkMistakes)("%s in a check", (_, check, ...mistakes) =>
            areMistakes({ checks: [check] }, "checks\\.0\\.", mistakes),
        );
        it.each(attackMistakes)("%s in an attack", (_, fields, ...mistakes) =>
            areMistakes({ attacks: [{ ...attack, ...fields }] }, "attacks\\.0\\.", mistakes),
        );
        it.each(peerMistakes)("the peers %j", (peers, mistake) =>
            areMistakes({ attacks: [{ ...attack, peers }] }, "attacks\\.0\\.", [mistake]),
        );
        it.each(withPeers)("%j", (fields, mistake) =>
            areMistakes({ attacks: [{ ...attack, ...fields }] }, "attacks\\.0\\.", [mistake]),
        );
        it.each(actionMistakes)("%s in an action", (_, action, ...mistakes) =>
            areMistakes({ actions: [action] }, "actions\\.0\\.", mistakes),
        );
        it.each<[string, object, string]>([
            ["no hypothesis", { hypothesis: " " }, "hypothesis: "],
            ["a misspelled property", { atacks: [] }, '.*"atacks"'],
            ["a property of other attacks", { attacks: [{ ...attack, kind: "dns", ports: [53] }] }, '.*"ports"'],
            ["no check", { checks: [] }, "checks: .*without a check"],
            ["two checks of one name", { checks: [http, http] }, 'checks\\.1\\.name: another check is named "/"'],
        ])("%s", (_, changes, mistake) => areMistakes(changes, "", [mistake]));
    });

    it("with several mistakes is rejected with all of them at once", () => {
        const wrong = {
            attacks: [{ kind: "blackhole", target: "x", radius: "none" }, { kind: "burn" }],
            checks: [],
            actions: [{ kind: "wait", durationMs: -1 }],
        };
        expect(mistakesIn(wrong)).toHaveLength(6);
    });
});
