import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isReadOfMany, isReadOfOne, isReadWithRules, Sieve } from "../../../../chaos/cluster/sieve";

/** What a sieve lets through of an answer that comes in chunks of some length. */
function sifted(answer: unknown, isRead: (path: readonly string[]) => boolean, length = 7) {
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    const sieve = new Sieve(isRead);
    const items: unknown[] = [];
    for (let at = 0; at < text.length; at += length)
        for (const item of sieve.push(text.slice(at, at + length))) items.push(JSON.parse(item));
    return { items, rest: JSON.parse(sieve.rest) as unknown };
}

it("anything that is read comes through as it is, whatever the chunks", () =>
    fc.assert(
        fc.property(fc.json(), fc.boolean(), fc.integer({ min: 1, max: 20 }), (text, isPretty, length) => {
            const answer = isPretty ? JSON.stringify(JSON.parse(text), null, 2) : text;
            const value = JSON.parse(answer) as { items?: unknown };
            fc.pre(value?.items === undefined);
            expect(sifted(answer, () => true, length)).toEqual({ items: [], rest: value });
        }),
    ));

it("the items of a list come one by one, and the list without them", () =>
    fc.assert(
        fc.property(
            fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
            fc.integer({ min: 1, max: 20 }),
            (items, length) => {
                const list = { kind: "List", metadata: { continue: 'next "page"' }, items };
                const found = sifted(JSON.parse(JSON.stringify(list)), () => true, length);
                expect(found).toEqual({
                    items: JSON.parse(JSON.stringify(items)) as unknown,
                    rest: { ...list, items: [] },
                });
            },
        ),
    ));

const pod = {
    metadata: {
        name: "a",
        labels: { app: "web", "chaos-experiments/target": "x.kill" },
        annotations: { "chaos-experiments/begun": "run", note: 'x"]}\\' },
        managedFields: [{ manager: "kubectl", fieldsV1: { "f:metadata": {} } }],
    },
    spec: {
        containers: [
            {
                name: "c",
                image: "nginx",
                env: [{ name: "LARGE", value: "{[" }],
                ports: [{ containerPort: 80 }],
                lifecycle: { preStop: { exec: { command: ["large"] } } },
                readinessProbe: { httpGet: { port: 80, host: "a", httpHeaders: [{ name: "x", value: "large" }] } },
                livenessProbe: { exec: { command: ["large"] }, periodSeconds: 3 },
            },
        ],
        ephemeralContainers: [{ name: "e", command: ["large"] }],
    },
    status: { podIP: "10.0.0.7" },
};

it("what may be large and is not read is not kept, of a list and of one object", () => {
    const { items } = sifted({ metadata: {}, items: [pod, pod] }, isReadOfMany);
    const kept = {
        metadata: {
            name: "a",
            labels: pod.metadata.labels,
            annotations: { "chaos-experiments/begun": "run" },
        },
        spec: {
            containers: [
                {
                    name: "c",
                    image: "nginx",
                    ports: [{ containerPort: 80 }],
                    readinessProbe: { httpGet: { port: 80, host: "a" } },
                    livenessProbe: {},
                },
            ],
            ephemeralContainers: [{ name: "e" }],
        },
        status: { podIP: "10.0.0.7" },
    };
    expect(items).toEqual([kept, kept]);
    const { rest } = sifted(pod, isReadOfOne);
    expect(rest).toEqual({ ...kept, metadata: { ...kept.metadata, managedFields: pod.metadata.managedFields } });
});

it("the rules of NetworkPolicies are read where they are asked for", () => {
    const policy = { metadata: { name: "web-in" }, spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } };
    expect(sifted({ items: [policy] }, isReadOfMany).items).toEqual([{ ...policy, spec: { podSelector: {} } }]);
    expect(sifted({ items: [policy] }, isReadWithRules).items).toEqual([policy]);
});

it("whatever is not read, the rest comes through as it is", () =>
    fc.assert(
        fc.property(fc.jsonValue(), fc.func(fc.boolean()), fc.integer({ min: 1, max: 20 }), (value, isRead, length) => {
            const answer = JSON.parse(JSON.stringify({ value })) as unknown;
            const kept = (of: unknown, path: string[] = []): unknown => {
                if (Array.isArray(of)) return of.map((one) => kept(one, path));
                if (typeof of !== "object" || of === null) return of;
                const read = Object.entries(of).filter(([key]) => isRead(escaped([...path, key])));
                return Object.fromEntries(read.map(([key, one]) => [key, kept(one, [...path, key])]));
            };
            expect(sifted(answer, isRead, length).rest).toEqual(kept(answer));
        }),
    ));

/** Keys are compared as they stand in the answer. */
const escaped = (path: string[]) => path.map((key) => JSON.stringify(key).slice(1, -1));

it("to restore an object, what kubectl has applied last is read", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    expect(sifted({ metadata: { annotations } }, isReadOfOne).rest).toEqual({ metadata: { annotations } });
});
