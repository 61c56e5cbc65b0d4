import fc from "fast-check";
import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { condition, type ConditionCheck } from "../../../../../chaos/kinds/checks/condition";
import { http, type HttpCheck } from "../../../../../chaos/kinds/checks/http";
import { foundAt, keysOf, joinKeys, valueAt } from "../../../../../chaos/kinds/checks/path";
import { FakeCluster } from "../../support/fake-cluster";
import { base64, contextOf, recording, serve, useApiServer, unseen } from "./support";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

const revision = "deployment.kubernetes.io/revision";
const deployment = {
    metadata: {
        annotations: { [revision]: "2" },
        labels: { "app.kubernetes.io/version": "1.0.0", app: "orders" },
    },
    data: { "settings.json": "{}" },
};

describe("a path", () => {
    it.each<[string, string[]]>([
        ["a", ["a"]],
        ["status.conditions.0.type", ["status", "conditions", "0", "type"]],
        ["metadata.annotations.deployment\\.kubernetes\\.io/revision", ["metadata", "annotations", revision]],
        ["\\.a.b\\.", [".a", "b."]],
        ["a\\\\.b", ["a\\", "b"]],
        ["a\\b.c", ["a\\b", "c"]],
        ["a..b", ["a", "", "b"]],
        ["", [""]],
    ])("%j has the keys %j", (path, keys) => expect(keysOf(path)).toEqual(keys));

    it("can be written for all keys", () => {
        const key = fc.oneof(fc.string(), fc.stringMatching(/^[.\\a]{0,5}$/));
        fc.assert(
            fc.property(fc.array(key, { minLength: 1 }), (keys) => void expect(keysOf(joinKeys(keys))).toEqual(keys)),
        );
    });

    it("leads to values whose keys have dots", () => {
        expect(valueAt(deployment, "metadata.labels.app\\.kubernetes\\.io/version")).toBe("1.0.0");
        expect(valueAt(deployment, "metadata.labels.app")).toBe("orders");
        expect(valueAt({ "a.b": [{ "c.d": 1 }] }, "a\\.b.0.c\\.d")).toBe(1);
        expect(valueAt(deployment, "metadata.labels.app.kubernetes.io/version")).toBeUndefined();
    });

    it.each([
        [deployment, `metadata.annotations.${revision}`, "metadata.annotations.deployment\\.kubernetes\\.io/revision"],
        [deployment, "data.settings.json", "data.settings\\.json"],
        [{ "a.b": { "c.d": 1 } }, "a.b.c.d", "a\\.b.c\\.d"],
        [{ a: {}, "a.b": 1 }, "a.b", "a\\.b"],
        [{ a: { b: {} }, "a.b": { c: 1 } }, "a.b.c", "a\\.b.c"],
        [[{ "a.b": 1 }], "0.a.b", "0.a\\.b"],
        [{ "a.b.c": 1, "a.b": 1 }, "a.b.c", "a\\.b\\.c"],
    ])("in %j of which a part only exists as a key with dots says how that is written: %s", (document, path, instead) =>
        expect(() => foundAt(document, path)).toThrow(
            `${path} is missing, and there is ${instead}: write \\. for a dot that belongs to a key`,
        ),
    );

    it.each([
        [deployment, "metadata.annotations.gone.b"],
        [{ "a.b": 1 }, "a.b.c"],
        [{}, "a.b"],
        ["a.b", "a.b"],
    ])("in %j without such a key is missing: %s", (document, path) => expect(foundAt(document, path)).toBeUndefined());
});

describe("a check of an object", () => {
    const of = { apiVersion: "apps/v1", kind: "Deployment", name: "orders" };
    const look = async (fields: Partial<ConditionCheck>) => {
        const resources = [{ name: "deployments", kind: "Deployment", namespaced: true }];
        const handler = ({ url }: { url?: string }, response: ServerResponse) =>
            response.end(JSON.stringify(url === "/apis/apps/v1" ? { resources } : deployment));
        useApiServer(cluster, await serve(handler));
        const check = { kind: "condition", of, ...fields } as ConditionCheck;
        expect(condition.schema.safeParse(check).error?.issues).toBeUndefined();
        return condition.probe(check, contextOf(cluster), 2_000);
    };
    const escaped = "metadata.annotations.deployment\\.kubernetes\\.io/revision";

    it("reads an annotation", async () => {
        expect(await look({ field: escaped, equals: "2" })).toMatchObject({ good: true });
        expect(await look({ field: escaped, equals: "1", ifMissing: "1" })).toMatchObject({
            problem: `${escaped} is "2" (required: "1")`,
        });
    });

    it("knows nothing if its dots are not escaped, also with `ifMissing`", async () => {
        const field = `metadata.annotations.${revision}`;
        for (const fields of [{}, { ifMissing: "1" }])
            expect(await look({ field, equals: "1", ...fields })).toMatchObject(
                unseen(expect.stringContaining(`and there is ${escaped}: write`)),
            );
        expect(await look({ field: "metadata.annotations.gone", equals: "1", ifMissing: "1" })).toMatchObject({
            good: true,
        });
    });

    it("takes the longest key that Kubernetes allows", async () => {
        const key = `${"a.".repeat(126)}a/${"b".repeat(63)}`;
        const field = `metadata.annotations.${key.replaceAll(".", "\\.")}`;
        expect(await look({ field, equals: "1", ifMissing: "1" })).toMatchObject({ good: true });
    });
});

describe("a check over HTTP", () => {
    const look = async (fields: Partial<HttpCheck>, answer: object = {}) => {
        const { url, asked } = await recording((_, response) => response.end(JSON.stringify(answer)));
        const check: HttpCheck = { kind: "http", path: "/", url, ...fields };
        return { ...(await http.probe(check, contextOf(cluster), 2_000)), asked };
    };

    it("reads flat JSON", async () => {
        const flat = { "cache.ttl": 60, list: [{ "a.b": [1] }] };
        const json = [
            { path: "cache\\.ttl", equals: 60 },
            { path: "list.0.a\\.b", atLeast: 1 },
        ];
        expect(await look({ json }, flat)).toMatchObject({ good: true });
        expect(await look({ json: [{ path: "cache.ttl", equals: 60 }] }, flat)).toMatchObject(
            unseen("cache.ttl is missing, and there is cache\\.ttl: write \\. for a dot that belongs to a key"),
        );
    });

    it("sends secrets in fields whose keys have dots, and in no other", async () => {
        cluster.add("Secret", "keys", { data: { key: base64("x") } });
        const key = { secret: "keys", key: "key" };
        const sent = await look({
            method: "POST",
            body: { a: { b: 1 } },
            bodyFrom: { "a\\.b": key, "a.c\\.d.e": key },
        });
        expect(JSON.parse(sent.asked[0]!.body)).toEqual({ "a.b": "x", a: { b: 1, "c.d": { e: "x" } } });
    });

    const problems = (bodyFrom: string, body: object) =>
        http.schema
            .safeParse({
                ...{ kind: "http", path: "/", method: "POST", body },
                bodyFrom: { [bodyFrom]: { secret: "keys", key: "key" } },
            })
            .error?.issues.map(({ message }) => message);

    it("refuses a field that has a value, or is none", () => {
        expect(problems("a\\.b", { "a.b": 1 })).toEqual(["`body` has a value at a\\.b already"]);
        expect(problems("a.b", { "a.b": 1 })).toBeUndefined();
        expect(problems("a\\.b", { a: { b: 1 } })).toBeUndefined();
        for (const none of ["a..b", ".a", "a.", "", "a\\"]) expect(problems(none, {})).toHaveLength(1);
    });
});
