import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { packedProgram } from "../../../components/base/program";
import { Shop, type ShopArgs } from "../../../components/shop/shop";
import { type Asked, find, images, kinds, recordGraph, secretMark } from "./support";

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

/** A plan compares the update with it: what the preview does not know must stay open. */
it("a preview makes nothing up, and leaves open what only the update knows", async () => {
    const preview = () =>
        recordGraph(async () => new Shop("shop", { namespace: "demo", variant: "seven", images }), {}, true);
    const first = await preview();
    expect(await preview()).toEqual(first);
    for (const accounts of ["database-accounts", "message-broker-accounts"])
        expect(pulumi.isUnknown(find(first, kinds.secret, accounts).data)).toBe(true);
    for (const caller of ["gateway", "fashion-bestseller", "orders"])
        expect(pulumi.isUnknown(find(first, kinds.policy, caller).spec.egress)).toBe(true);
});

describe("variant four", () => {
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

    it("has a namespace that names its stack and, if given, the stack's identity", async () => {
        expect(find(shop, kinds.namespace, "demo").metadata.annotations).toEqual({ "chaos-shop/stack": "local" });
        const args = { namespace: "demo", identity: "0123456789abcdef", images };
        const identified = await recordGraph(async () => new Shop("shop", args));
        expect(find(identified, kinds.namespace, "demo").metadata.annotations).toEqual({
            "chaos-shop/stack": "local",
            "chaos-shop/identity": "0123456789abcdef",
        });
    });

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
        "adds workload %s behind a NodePort Service of the same name, port %i, which no update waits for",
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

    it("leaves everything else as in variant four, so changing the variant restarts no other pod", () => {
        for (const { type, name, inputs } of shop.filter(
            ({ type }) => type === kinds.deployment || type === kinds.service || type === kinds.configMap,
        )) {
            expect(find(seven, type, name), name).toEqual(inputs);
        }
    });
});

describe("every pod", () => {
    it("meets the restricted Pod Security level, with a read-only root file system", () => {
        for (const { name, pod } of pods()) {
            expect(pod.securityContext, name).toMatchObject({
                runAsNonRoot: true,
                seccompProfile: { type: "RuntimeDefault" },
            });
            for (const container of [...pod.initContainers, ...pod.containers]) {
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

    it("must not have a token for the API server, except the gateway's, which may only list the pods", () => {
        for (const { name, pod } of pods()) expect(pod.automountServiceAccountToken, name).toBe(name === "gateway");
        const roles = shop.filter(({ type }) => type === "kubernetes:rbac.authorization.k8s.io/v1:Role");
        expect(roles.map(({ inputs }) => inputs.rules)).toEqual([
            [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }],
        ]);
    });
});

it("replicas are left to the cluster if the stack sets none, so an update leaves a scaled workload alone", () => {
    expect(find(shop, kinds.deployment, "gateway").spec).not.toHaveProperty("replicas");
});

it("a changed program gets another ConfigMap, which replaces the pods that mount it", () => {
    const programs = shop.filter(({ type, name }) => type === kinds.configMap && name.includes("-program-"));
    const { hash } = packedProgram("services/storefront/start-storefront.ts");
    expect(programs.map(({ name }) => name)).toContain(`storefront-program-${hash}`);
    for (const name of ["gateway", "hot-deals"]) {
        expect(find(shop, kinds.deployment, name).spec.template.spec.volumes[0].configMap.name).toBe(
            `storefront-program-${hash}`,
        );
    }
});

it("passwords must be in Secrets only, and must be secret to the engine", () => {
    const secrets = seven.filter(({ type }) => type === kinds.secret);
    expect(secrets.map(({ name }) => name).sort()).toEqual(["database-accounts", "message-broker-accounts"]);
    for (const { inputs } of secrets) expect(JSON.stringify(inputs.data)).toContain(secretMark);
});

describe("passwords in pods", () => {
    it("must not be in the environment of a container", () => {
        for (const { name, pod } of pods())
            for (const { env = [] } of [...pod.containers, ...pod.initContainers] as { env?: object[] }[])
                expect(
                    env.filter((variable) => "valueFrom" in variable),
                    name,
                ).toEqual([]);
    });

    it.each([
        ["gateway", []],
        ["hot-deals", ["database-accounts/reader"]],
        ["orders", ["database-accounts/orders", "message-broker-accounts/orders"]],
        ["inventory", ["database-accounts/inventory", "message-broker-accounts/inventory"]],
        ["database", ["owner", "reader", "orders", "inventory"].map((account) => `database-accounts/${account}`)],
        ["message-broker", ["orders", "inventory"].map((account) => `message-broker-accounts/${account}`)],
    ])("of %s are files with what it needs: %j", (workload, passwords) => {
        type Volume = { secret?: { secretName: string; items: { path: string }[]; defaultMode: number } };
        const { pod } = pods().find(({ name }) => name === workload)!;
        const mounted = (pod.volumes as Volume[]).flatMap(({ secret }) => secret ?? []);
        expect(mounted.flatMap(({ secretName, items }) => items.map(({ path }) => `${secretName}/${path}`))).toEqual(
            passwords,
        );
        for (const { defaultMode } of mounted) expect(defaultMode).toBe(0o440);
    });

    it("are where the programs look for them", () => {
        const { containers } = pods().find(({ name }) => name === "orders")!.pod;
        const { env, volumeMounts } = containers[0] as Record<string, { name: string; value: string }[]>;
        const files = env!.filter(({ name }) => name.endsWith("_FILE")).map(({ name, value }) => `${name}=${value}`);
        expect(files).toEqual([
            "PGPASSWORD_FILE=/passwords/database/orders",
            "BROKER_PASSWORD_FILE=/passwords/broker/orders",
        ]);
        expect(volumeMounts).toContainEqual({ name: "database-accounts", mountPath: "/passwords/database" });
        expect(volumeMounts).toContainEqual({ name: "message-broker-accounts", mountPath: "/passwords/broker" });
    });

    it("reach the broker's configuration through a volume in memory", () => {
        const { pod } = pods().find(({ name }) => name === "message-broker")!;
        expect(pod.volumes).toContainEqual({ name: "configuration", emptyDir: { medium: "Memory" } });
        const names = (pod.volumes as { name: string }[]).map(({ name }) => name);
        expect(names).toEqual([...new Set(names)]);
    });
});

describe("the database's data", () => {
    it("has a namespace that says so if it is kept for claims", async () => {
        const marks = async (storage: ShopArgs["storage"]) => {
            const asked = await recordGraph(async () => new Shop("shop", { namespace: "demo", images, storage }));
            return find(asked, kinds.namespace, "demo").metadata.annotations;
        };
        expect(await marks({ database: "1Gi", keep: true })).toMatchObject({ "chaos-shop/kept": "true" });
        for (const storage of [{ database: "1Gi", keep: false }, { keep: true }])
            expect(await marks(storage)).not.toHaveProperty("chaos-shop/kept");
    });
});
