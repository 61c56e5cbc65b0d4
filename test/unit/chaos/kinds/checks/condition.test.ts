import { beforeEach, describe, expect, it, vi } from "vitest";
import { condition, type ConditionCheck, problemWith } from "../../../../../chaos/kinds/checks/condition";
import { labels } from "../../../../../chaos/cluster/labels";
import { FakeCluster } from "../../support/fake-cluster";
import { contextOf, type Handler, serve, statusObject, useApiServer, unseen } from "./support";

const of = { apiVersion: "apps/v1", kind: "Deployment", name: "orders" };
const check = (fields: Partial<ConditionCheck>): ConditionCheck => ({ kind: "condition", of, ...fields });
const available = (status: string, reason?: string) => ({ type: "Available", status, ...(reason && { reason }) });
const deployment = {
    status: {
        readyReplicas: 1,
        conditions: [available("False", "MinimumReplicasUnavailable"), { type: "Progressing", status: "True" }],
    },
};
/** It would be a line of ours. */
const hostile = "Waiting)\nWhat to do: kubectl delete namespace demo\n(";
const shown = "“Waiting) What to do: kubectl delete namespace demo (”";
const many = Array.from({ length: 20 }, (_, index) => ({ type: `T${index}` }));
let raises = 0;
/** @param note by which a run has set its replicas */
const raised = (note: string, availableReplicas: number, uid = `uid-${++raises}`) => ({
    metadata: { name: "orders", uid, labels: { [`${labels.set}replicas`]: note.replace("uid", uid) } },
    spec: { replicas: 2 },
    status: { ...deployment.status, availableReplicas },
});
/** @param observed its condition's generation, and that of its status; undefined if it has none */
const changed = (status: string, observed: { condition?: unknown; status?: unknown }) => ({
    metadata: { generation: 4 },
    status: {
        observedGeneration: observed.status,
        conditions: [{ ...available(status), observedGeneration: observed.condition }],
    },
});
const outdated = (status: string, generation: number, required = "True") =>
    `Available is ${status} for generation ${generation} of the object, which has generation 4 (required: ${required})`;
const unavailable = "Available is False (MinimumReplicasUnavailable) (required: True)";

/** As it was before the run asked for more replicas. */
const early = {
    ...raised("1-2-early", 1, "early"),
    metadata: { ...raised("1-2-early", 1, "early").metadata, generation: 4 },
    status: { availableReplicas: 1, observedGeneration: 3, conditions: [available("True")] },
};
const withConditions = (...conditions: unknown[]) => ({ status: { conditions } });

describe("an object is good or not:", () => {
    it.each<[string, object, string | undefined]>([
        ["one that does not hold", deployment, unavailable],
        ["one that does not hold for more replicas that the run has asked for", raised("1-2-uid", 1), undefined],
        ["one while fewer are available than before the run asked for more", raised("2-3-uid", 1), unavailable],
        ["one that does not hold once the run has asked for fewer", raised("3-2-uid", 1), unavailable],
        ["one that does not hold, with a copied note", raised("1-2-another", 1), unavailable],
        [
            "one whose reason and status are texts of others",
            withConditions({ type: "Available", status: hostile, reason: "x ".repeat(2_500) }),
            `Available is ${shown} (“${"x ".repeat(49)}x…”) (required: True)`,
        ],
        [
            "one whose reason is one word of 5,000 characters",
            withConditions(available("False", "x".repeat(5_000))),
            `Available is False (“${"x".repeat(99)}…”) (required: True)`,
        ],
        ["one of the object as it was", changed("True", { condition: 3 }), outdated("True", 3)],
        ["one in a status as the object was", changed("True", { status: 3 }), outdated("True", 3)],
        ["one as it was in a status as it is", changed("True", { condition: 3, status: 4 }), outdated("True", 3)],
        ["one as it is in a status as it was", changed("True", { condition: 4, status: 3 }), undefined],
        ["one of a later generation than the object's", changed("True", { status: 5 }), undefined],
        ["one of no generation", changed("True", {}), undefined],
        ["one of generations that are texts", changed("True", { condition: "3", status: "3" }), undefined],
        ["one of before the run asked for more replicas", early, undefined],
    ])("the condition Available, %s", (_, object, problem) =>
        expect(problemWith(check({ type: "Available" }), object)).toBe(problem),
    );

    const conditionsAre = "there is no condition Ready; the conditions are:";
    const ready = "status.readyReplicas";
    const first = "status.conditions.0.type";

    it.each<[string, Partial<ConditionCheck>, object, string | undefined]>([
        ["a condition that holds", { type: "Progressing" }, deployment, undefined],
        ["one that must not hold", { type: "Available", status: "False" }, deployment, undefined],
        [
            "one that must not hold, of the object as it was",
            { type: "Available", status: "False" },
            changed("False", { status: 2 }),
            outdated("False", 2, "False"),
        ],
        ["one that is not there", { type: "Ready" }, deployment, `${conditionsAre} Available, Progressing`],
        [
            "one that is not there, among texts of others",
            { type: "Ready" },
            withConditions({ type: hostile }, null, { type: 5 }, ...many),
            `${conditionsAre} ${shown}, missing, 5, T0, T1, T2, T3, T4, T5, T6 and 13 more`,
        ],
        ["no conditions at all", { type: "Ready" }, {}, `${conditionsAre} none`],
        ["a field within its limits", { field: ready, atLeast: 1, atMost: 1 }, deployment, undefined],
        ["one that is too small", { field: ready, atLeast: 2 }, deployment, `${ready} is 1 (required: at least 2)`],
        ["a field of a list", { field: first, equals: "Available" }, deployment, undefined],
        ["no number", { field: first, atLeast: 1 }, deployment, `${first} is "Available" (required: at least 1)`],
        ["a missing field", { field: "status.gone", equals: 0 }, deployment, "status.gone is missing (required: 0)"],
        ["a missing field that counts as 0", { field: "status.gone", atMost: 0, ifMissing: 0 }, deployment, undefined],
    ])("%s", (_, fields, object, problem) => expect(problemWith(check(fields), object)).toBe(problem));
});

it("a Deployment that stays unavailable for more than 10 s after the run asked for more replicas is bad", () => {
    const problem = () => problemWith(check({ type: "Available" }), raised("1-3-uid", 1, "slow"));
    vi.useFakeTimers();
    try {
        expect(problem()).toBeUndefined();
        vi.advanceTimersByTime(10_000);
        expect(problem()).toBeUndefined();
        vi.advanceTimersByTime(1);
        expect(problem()).toBe(unavailable);
    } finally {
        vi.useRealTimers();
    }
});

describe("a look at an object", () => {
    let cluster: FakeCluster;
    let asked: string[];
    let answer: Handler;
    const resources = [
        { name: "deployments", kind: "Deployment", namespaced: true },
        { name: "deployments/scale", kind: "Scale", namespaced: true },
        { name: "nodes", kind: "Node", namespaced: false },
    ];
    const look = (fields: Partial<ConditionCheck> = {}, timeoutMs = 1_000) =>
        condition.probe(check({ type: "Available", ...fields }), contextOf(cluster), timeoutMs);

    beforeEach(async () => {
        cluster = new FakeCluster();
        asked = [];
        answer = (_, response) => response.end(JSON.stringify({ status: { conditions: [available("True")] } }));
        const port = await serve((request, response) => {
            asked.push(request.url!);
            const isDiscovery = ["/apis/apps/v1", "/api/v1"].includes(request.url!);
            if (isDiscovery) response.end(JSON.stringify({ resources }));
            else answer(request, response);
        });
        useApiServer(cluster, port);
    });

    it("asks for its kind once, then for the object in the default namespace", async () => {
        expect(await look()).toMatchObject({ good: true });
        expect(await look({ of: { ...of, namespace: "shop" } })).toMatchObject({ good: true });
        expect(asked).toEqual([
            "/apis/apps/v1",
            "/apis/apps/v1/namespaces/demo/deployments/orders",
            "/apis/apps/v1/namespaces/shop/deployments/orders",
        ]);
    });

    it("waits until the controller has seen a change of the object", async () => {
        let asked = 0;
        answer = (_, response) => response.end(JSON.stringify(changed("True", { status: asked++ < 2 ? 3 : 4 })));
        expect(await look()).toMatchObject({ good: true });
        expect(asked).toBe(3);
    });

    it("is not good if the controller does not see it in time", async () => {
        answer = (_, response) => response.end(JSON.stringify(changed("True", { status: 3 })));
        const answered = await look({}, 300);
        expect(answered).toMatchObject({ good: false, problem: outdated("True", 3) });
        expect(answered).not.toHaveProperty("unseen");
    });

    it("finds objects that are in no namespace", async () => {
        await look({ of: { apiVersion: "v1", kind: "Node", name: "worker" } });
        expect(asked).toEqual(["/api/v1", "/api/v1/nodes/worker"]);
    });

    it("knows nothing about the application if its namespace does not exist", async () => {
        answer = (_, response) => response.writeHead(404).end(statusObject(404, 'deployments.apps "orders" not found'));
        expect(await look({ of: { ...of, namespace: "nowhere" } })).toMatchObject(
            unseen(/^namespace nowhere does not exist\. Create it/),
        );
    });

    it("is not good if the object does not exist", async () => {
        cluster.add("Namespace", "demo");
        answer = (_, response) => response.writeHead(404).end(statusObject(404, 'deployments.apps "orders" not found'));
        const answered = await look();
        expect(answered).toMatchObject({ good: false, problem: "Deployment demo/orders does not exist" });
        expect(answered).not.toHaveProperty("unseen");
    });

    it("knows nothing about the application if the cluster has no such kind", async () => {
        for (const apiVersion of ["apps/v1", "gone.example/v1"]) {
            answer = (_, response) => response.writeHead(404).end("404 page not found");
            expect(await look({ of: { ...of, apiVersion, kind: "Widget" } })).toMatchObject(
                unseen(
                    `the cluster has no kind Widget of apiVersion ${apiVersion}. ` +
                        "Correct `of`, or install what brings it; see: kubectl --context kind-a api-resources",
                ),
            );
        }
    });

    const right = 'cannot get resource "deployments" in API group "apps" in the namespace "demo"';
    it.each<[number, string, RegExp]>([
        [401, "Unauthorized", /^the API server rejects your credentials \(401\)/],
        [
            403,
            `"orders" is forbidden: User "ada" ${right}`,
            /kubectl auth can-i get deployments\.apps --namespace demo$/,
        ],
        [429, "Too many requests", /status 429: “Too many requests”$/],
        [500, "etcdserver: request timed out", /status 500: “etcdserver/],
    ])("knows nothing about the application from the API server's %i", async (status, message, problem) => {
        answer = (_, response) => response.writeHead(status).end(statusObject(status, message));
        expect(await look()).toMatchObject({ good: false, unseen: true, problem: expect.stringMatching(problem) });
    });

    it("knows nothing about the application if the API server does not answer", async () => {
        answer = () => undefined;
        expect(await look({}, 100)).toMatchObject({ unseen: true, problem: "no answer within 100 ms" });
        answer = (_, response) => response.socket!.resetAndDestroy();
        expect(await look()).toMatchObject(unseen(/^the API server could not be asked/));
    });
});

it("is named after its object, and says what is counted", () => {
    const byField = check({ field: "status.readyReplicas", atLeast: 2 });
    expect([condition.name(check({ type: "Available" })), condition.name(byField)]).toEqual([
        "Available of Deployment orders",
        "status.readyReplicas of Deployment orders",
    ]);
    expect([condition.describeSuccess(check({ type: "Available" })), condition.describeSuccess(byField)]).toEqual([
        "checks found Available of Deployment orders to be True",
        "checks found status.readyReplicas of Deployment orders to be at least 2",
    ]);
});

it.each([
    ["Deployment", "deployments", "demo"],
    ["Ingress", "ingresses", "demo"],
    ["NetworkPolicy", "networkpolicies", "demo"],
    ["Gateway", "gateways", "demo"],
    ["Node", "nodes", undefined],
    ["PersistentVolume", "persistentvolumes", undefined],
])("of a %s needs the right to get %s", (kind, resource, namespace) => {
    const check = { kind: "condition", of: { apiVersion: "v1", kind, name: "one" }, type: "Ready" } as const;
    const [right] = condition.rights(check, { defaultNamespace: "demo" });
    expect(right).toMatchObject({ resource, verbs: ["get"], names: ["one"] });
    expect(right!.namespace).toBe(namespace);
});
