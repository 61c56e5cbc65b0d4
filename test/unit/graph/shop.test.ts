import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../../../components/program/program";
import { Shop } from "../../../components/shop/shop";
import { type Asked, find, images, kinds, recordGraph } from "./support";

let shop: Asked[];
let seven: Asked[];

beforeAll(async () => {
    shop = await recordGraph(async () => new Shop("shop", { namespace: "demo", images, replicas: { "hot-deals": 3 } }));
    seven = await recordGraph(
        async () => new Shop("shop", { namespace: "demo", variant: "seven", images, replicas: { "hot-deals": 3 } }),
    );
});

const deployments = (of = shop) => of.filter(({ type }) => type === kinds.deployment);
const pods = () => deployments(seven).map(({ name, inputs }) => ({ name, pod: inputs.spec.template.spec }));

describe("the shop of four backends", () => {
    it.each([
        ["gateway", "gateway", "LoadBalancer", 80],
        ["fashion-bestseller", "fashion-bestseller", "NodePort", 80],
        ["toys-bestseller", "toys-bestseller", "NodePort", 80],
        ["hot-deals", "hot-deals", "NodePort", 80],
        ["database", "product-db", "NodePort", 5432],
    ])("workload %s is behind Service %s of type %s, port %i", (workload, service, type, port) => {
        const { spec, metadata } = find(shop, kinds.service, service);
        expect(metadata).toMatchObject({ name: service, namespace: "demo" });
        expect(spec).toMatchObject({ type, selector: { app: workload }, ports: [{ port }] });
        expect(find(shop, kinds.deployment, workload).metadata).toMatchObject({ name: workload, namespace: "demo" });
        expect(find(shop, kinds.deployment, workload).spec.template.metadata.labels).toEqual({ app: workload });
    });

    it("has no other workloads", () => expect(deployments()).toHaveLength(5));

    it("has a namespace that enforces the restricted Pod Security level", () => {
        expect(find(shop, kinds.namespace, "demo").metadata.labels).toMatchObject({
            "pod-security.kubernetes.io/enforce": "restricted",
        });
    });
});

describe("variant seven", () => {
    it.each([
        ["orders", 80],
        ["inventory", 80],
        ["message-broker", 4222],
    ])(
        "adds workload %s behind a NodePort Service of its name, port %i, which holds no update up",
        (workload, port) => {
            expect(find(seven, kinds.service, workload).spec).toMatchObject({
                type: "NodePort",
                selector: { app: workload },
                ports: [{ port }],
            });
            expect(find(seven, kinds.deployment, workload).metadata.annotations).toMatchObject({
                "pulumi.com/skipAwait": "true",
            });
        },
    );

    it("leaves everything else as it is in variant four, so that going from one to the other restarts nobody", () => {
        for (const { type, name, inputs } of shop.filter(
            ({ type }) => type === kinds.deployment || type === kinds.service || type === kinds.configMap,
        )) {
            expect(find(seven, type, name), name).toEqual(inputs);
        }
    });
});

describe("every pod", () => {
    it("is one that the restricted level admits, with a read-only root", () => {
        for (const { name, pod } of pods()) {
            expect(pod.securityContext, name).toMatchObject({
                runAsNonRoot: true,
                seccompProfile: { type: "RuntimeDefault" },
            });
            for (const container of pod.containers) {
                expect(container.securityContext, name).toEqual({
                    allowPrivilegeEscalation: false,
                    capabilities: { drop: ["ALL"] },
                    readOnlyRootFilesystem: true,
                });
            }
        }
    });

    it("has requests, limits, and probes for readiness and liveness", () => {
        for (const { name, pod } of pods()) {
            expect(pod.containers[0], name).toMatchObject({
                resources: {
                    requests: { cpu: expect.any(String), memory: expect.any(String) },
                    limits: { memory: expect.any(String) },
                },
                readinessProbe: expect.any(Object),
                livenessProbe: expect.any(Object),
            });
        }
    });

    it("carries no token for the API server, but for the gateway, whose account may list the namespace's pods and nothing else", () => {
        for (const { name, pod } of pods()) expect(pod.automountServiceAccountToken, name).toBe(name === "gateway");
        const roles = shop.filter(({ type }) => type === "kubernetes:rbac.authorization.k8s.io/v1:Role");
        expect(roles.map(({ inputs }) => inputs.rules)).toEqual([
            [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }],
        ]);
    });
});

describe("replicas", () => {
    it("are the stack's where it sets them", () =>
        expect(find(shop, kinds.deployment, "hot-deals").spec.replicas).toBe(3));
    it("are left to the cluster where it does not, so that an update leaves a scaled workload alone", () => {
        expect(find(shop, kinds.deployment, "gateway").spec).not.toHaveProperty("replicas");
    });
});

it("a changed program is another ConfigMap, so that it rolls the pods that mount it", () => {
    const programs = shop.filter(({ type, name }) => type === kinds.configMap && name.includes("-program-"));
    const { hash } = bundle("services/storefront/main.ts");
    expect(programs.map(({ name }) => name)).toContain(`storefront-program-${hash}`);
    for (const name of ["gateway", "hot-deals"]) {
        expect(find(shop, kinds.deployment, name).spec.template.spec.volumes[0].configMap.name).toBe(
            `storefront-program-${hash}`,
        );
    }
});

it("passwords are in a Secret alone, and secret to the engine", () => {
    for (const { inputs } of seven.filter(({ type }) => type === kinds.secret)) {
        expect(JSON.stringify(inputs.stringData)).toContain("4dabf18193072939515e22adb298388d"); // the engine's mark of a secret
    }
    for (const { name, pod } of pods()) {
        for (const { name: variable, value, valueFrom } of pod.containers[0].env) {
            if (/PASSWORD/.test(variable))
                expect([name, value, valueFrom?.secretKeyRef?.name]).toEqual([
                    name,
                    undefined,
                    expect.stringMatching(/-accounts$/),
                ]);
        }
    }
});

describe("the database's data", () => {
    it("is gone with its pod unless the stack asks for storage", () => {
        expect(shop.some(({ type }) => type === kinds.claim)).toBe(false);
    });
    it("lies on a claim of the size that the stack sets", async () => {
        const stored = await recordGraph(
            async () => new Shop("shop", { namespace: "demo", images, storage: { database: "1Gi" } }),
        );
        expect(find(stored, kinds.claim, "database-data").spec.resources.requests.storage).toBe("1Gi");
    });
});
