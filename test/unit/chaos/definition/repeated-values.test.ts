import { expect, it } from "vitest";
import { planOfArguments } from "../../../../chaos/definition/arguments";
import { podMistakes } from "../../../../chaos/definition/pod-mistakes";
import { documentsIn, importExperiments } from "../../../../chaos/cli/import/convert";

const secret = "s3cr3t-0123456789";
const http = { kind: "http", path: "/", url: "http://shop.example" };
const fault = { kind: "fault", service: "orders", delay: "1s" };

/** What is wrong with a check or an attack, as a person is told it. */
function toldOf({ check = http, attack }: { check?: unknown; attack?: object }): string {
    const attacks = attack === undefined ? undefined : [attack];
    const args = { hypothesis: "It holds.", namespace: "shop", checks: [check], attacks };
    try {
        planOfArguments("orders", args as never);
    } catch (error) {
        return (error as Error).message;
    }
    return "nothing";
}

const wrongChecks: [string, unknown][] = [
    ["a query", { ...http, path: `shop?id=${secret}` }],
    ["a query of a URL", { ...http, url: `http://shop.example/?id=${secret}` }],
    ["a URL of another scheme", { ...http, url: `ftp://shop.example/${secret}` }],
    ["a URL's scheme", { ...http, url: `${secret}:x` }],
    ["a path that is no text", { ...http, path: [secret] }],
    ["a credential in a query", { ...http, path: `/?session_id=${secret}` }],
    ["headers that are a text", { ...http, headers: `X-Key: ${secret}` }],
    ["a header that is no text", { ...http, headers: { "X-Key": { value: secret } } }],
    ["a header with a line break", { ...http, headers: { "X-Key": `${secret}\n` } }],
    ["a header that carries a credential", { ...http, headers: { "X-Session-Id": secret } }],
    ["a header in place of its name", { ...http, headers: { [`X-Api-Key: ${secret}`]: "" } }],
    ["a body that is a text", { ...http, method: "POST", body: secret }],
    ["a credential in a body", { ...http, method: "POST", body: { session: { sessionId: secret } } }],
    ["a body under another name", { ...http, json: { password: secret } }],
    ["a query of Prometheus", { kind: "prometheus", url: "http://a.example", query: [secret], atLeast: 1 }],
    ["a command that is a text", { kind: "command", command: `./check --token ${secret}` }],
    ["a variable of a command", { kind: "command", command: ["./check"], env: { SESSION_ID: secret } }],
    ["a variable in place of its name", { kind: "command", command: ["./check"], env: { [`TOKEN=${secret}`]: "" } }],
    ["a check that is a text", `http://ada:${secret}@shop.example`],
    ["a limit that is a credential", { ...http, timeoutMs: `token=${secret}` }],
    ["a field that is a header", { ...http, [`Authorization: Bearer ${secret}`]: "" }],
];
it.each(wrongChecks)("no mistake repeats a value: %s", (_, check) => {
    const told = toldOf({ check });
    expect(told).toMatch(/has (?:a mistake|\d+ mistakes):/);
    expect(told).not.toContain(secret);
});

const wrongMatches: [string, unknown][] = [
    ["a query", { path: `/a?id=${secret}` }],
    ["a header's value with a space", { headers: { "x-shop": ` ${secret}` } }],
    ["a header's value that is no text", { headers: { "x-shop": [secret] } }],
    ["a header's credential", { headers: { "X-Session-Id": secret } }],
    ["an exception's header", { except: [{ headers: { Cookie: `id=${secret}` } }] }],
    ["headers that are a text", { headers: `Cookie: ${secret}` }],
];
it.each(wrongMatches)("nor of a match: %s", (_, match) => {
    const told = toldOf({ attack: { ...fault, match } });
    expect(told).toMatch(/attacks\.0\.match/);
    expect(told).not.toContain(secret);
});

it("a value that is no secret is repeated", () => {
    expect(toldOf({ check: { ...http, timeoutMs: "5s" } })).toContain('timeoutMs: is "5s"');
    expect(podMistakes({ runAsUser: 0 })).toEqual(["pod.runAsUser: is 0; allowed: at least 1"]);
});

it("a header whose name is no credential may have any value: what matches a fault is one", () =>
    expect(toldOf({ attack: { ...fault, match: { headers: { "x-request-id": "mine" } } } })).toBe("nothing"));

it("an import repeats no value of a header", () => {
    const text = JSON.stringify({
        apiVersion: "chaos-mesh.org/v1alpha1",
        kind: "HTTPChaos",
        metadata: { name: "slow" },
        spec: {
            mode: "all",
            selector: { namespaces: ["shop"], labelSelectors: { app: "orders" } },
            target: "Request",
            delay: "1s",
            request_headers: { "X-Session-Id": secret, "x-shop": ` ${secret}` },
        },
    });
    const checks = [http] as never;
    const found = importExperiments(documentsIn(text), { checks, hypothesis: "It holds.", service: "orders" });
    expect(JSON.stringify(found)).toContain("X-Session-Id: has a value of X-Session-Id");
    expect(JSON.stringify(found)).not.toContain(secret);
});
