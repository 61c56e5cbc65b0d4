import { beforeAll, describe, expect, it } from "vitest";
import { BuiltinAgent } from "../../../components/agent/builtin";
import { chartAgent } from "../../../components/agent/agent";
import { agentName, builtinAgent } from "../../../components/configuration/agent";
import { manifestAgent } from "../../../components/agent/manifest";
import type { ManifestObject } from "../../../components/manifest/read";
import { type Asked, find, kinds, recordGraph, secretMark } from "./support";

const key = "the-key-of-this-test";
const daemonSetKind = "kubernetes:apps/v1:DaemonSet";

/** A value without what the engine is told to keep secret. */
const inTheClear = (value: unknown) =>
    JSON.stringify(value, (_, inner: any) => (inner?.[secretMark] === undefined ? inner : "[secret]"));

describe("the builtin agent", () => {
    let agent: Asked[];
    beforeAll(async () => {
        agent = await recordGraph(
            async () =>
                new BuiltinAgent(agentName, {
                    namespace: "demo-agent",
                    shop: "demo",
                    marks: { "chaos-shop/stack": "local" },
                    clusterName: "c",
                    key,
                    image: "docker.io/library/node:22.23.3",
                }),
        );
    });

    it("is the DaemonSet that experiments ask", () => {
        const { name, namespace } = find(agent, daemonSetKind, agentName).metadata;
        expect({ name, namespace }).toEqual(builtinAgent({ install: "builtin", namespace: "demo-agent" }));
    });

    it("gets the key only from an immutable Secret that it mounts", () => {
        expect(find(agent, kinds.secret, "agent-key")).toMatchObject({ immutable: true });
        expect(inTheClear(agent)).not.toContain(key);
        const { volumes, containers } = find(agent, daemonSetKind, "agent").spec.template.spec;
        expect(volumes.find(({ name }: { name: string }) => name === "key").secret).toMatchObject({
            defaultMode: 0o440,
        });
        expect(JSON.stringify(containers[0].env)).not.toContain("secretKeyRef");
        // And it mounts nothing of its node.
        expect(JSON.stringify(volumes)).not.toContain("hostPath");
    });

    it("may read pods and the ReplicaSets that made them, and nothing else", () => {
        expect(find(agent, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "agent-role").rules).toEqual([
            { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
            { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["get"] },
        ]);
    });

    it("marks what it has in the whole cluster, and nothing else is there", () => {
        const outside = agent.filter(({ inputs }) => inputs.metadata && inputs.metadata.namespace === undefined);
        expect(outside.map(({ inputs }) => inputs.metadata)).toMatchObject([
            { name: "chaos-shop-agent-demo", annotations: { "chaos-shop/stack": "local" } },
            { name: "chaos-shop-agent-demo", annotations: { "chaos-shop/stack": "local" } },
        ]);
    });

    it("runs on the nodes that can run it: not on those with Windows, and not on virtual ones", () => {
        const { nodeSelector, affinity } = find(agent, daemonSetKind, "agent").spec.template.spec;
        expect(nodeSelector).toEqual({ "kubernetes.io/os": "linux" });
        const required = affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
        expect(required.nodeSelectorTerms[0].matchExpressions).toEqual([
            { key: "eks.amazonaws.com/compute-type", operator: "NotIn", values: ["fargate"] },
            { key: "type", operator: "NotIn", values: ["virtual-kubelet"] },
        ]);
    });

    it("is protected from experiments, and meets the restricted Pod Security level", () => {
        const { metadata, spec } = find(agent, daemonSetKind, "agent").spec.template;
        expect(metadata.labels["chaos-experiments/protected"]).toBe("true");
        expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
        expect(spec.containers[0].securityContext).toEqual({
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"] },
            readOnlyRootFilesystem: true,
        });
    });
});

it("a vendor's chart gets the key and the cluster's name under all names that vendors use, as secrets", async () => {
    const asked = await recordGraph(async () =>
        chartAgent("agent", {
            namespace: "demo-agent",
            clusterName: "c",
            key,
            chart: { name: "x", repo: "https://charts.example.com" },
            timeoutMs: 300_000,
        }),
    );
    const { values } = find(asked, "kubernetes:helm.sh/v3:Release", "agent");
    expect(values.value).toEqual({ agent: { key }, cluster: { name: "c" }, global: { clusterName: "c" } });
    expect(inTheClear(asked)).not.toContain(key);
});

/** The objects where the cluster would have them. */
const placed = (objects: readonly ManifestObject[], ...clusterWide: string[]) =>
    objects.map((object) => {
        const isClusterWide = ["CustomResourceDefinition", ...clusterWide].includes(object.kind);
        return { object, path: "/", namespace: isClusterWide ? undefined : "demo-agent" };
    });

it("each part of a manifest that contains the key is a secret", async () => {
    const objects: ManifestObject[] = [
        {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name: "a" },
            data: { key: Buffer.from(key).toString("base64") },
        },
        {
            apiVersion: "apps/v1",
            kind: "DaemonSet",
            metadata: { name: "b" },
            spec: { template: { spec: { containers: [{ name: "c", args: [`--key=${key}`] }] } } },
        },
    ];
    const marks = { "chaos-shop/stack": "local" };
    const asked = await recordGraph(async () =>
        manifestAgent("agent", { namespace: "demo-agent", objects: placed(objects), key, marks }),
    );
    for (const { inputs } of asked.filter(({ type }) => type.startsWith("kubernetes:")))
        expect(inputs.metadata.annotations).toMatchObject(marks);
    expect(asked.filter(({ type }) => type.startsWith("kubernetes:")).map(({ type }) => type)).toEqual([
        "kubernetes:core/v1:Secret",
        daemonSetKind,
    ]);
    const shown = inTheClear(asked);
    expect([key, Buffer.from(key).toString("base64")].filter((secret) => shown.includes(secret))).toEqual([]);
});

it("a manifest's kinds come before their objects, of which the cluster-wide ones are in no namespace", async () => {
    const apiVersion = "example.com/v1";
    const kind = (name: string, scope: string): ManifestObject => ({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `${name.toLowerCase()}s.example.com` },
        spec: { group: "example.com", scope, names: { kind: name, plural: `${name.toLowerCase()}s` } },
    });
    const objects: ManifestObject[] = [
        { apiVersion, kind: "Probe", metadata: { name: "a" } },
        { apiVersion, kind: "Region", metadata: { name: "b" } },
        kind("Probe", "Namespaced"),
        kind("Region", "Cluster"),
    ];
    const asked = await recordGraph(async () =>
        manifestAgent("agent", { namespace: "demo-agent", objects: placed(objects, "Region"), key }),
    );
    const made = asked.filter(({ type }) => type.startsWith("kubernetes:"));
    const places = made.map(({ inputs }) => [inputs.metadata.name, inputs.metadata.namespace]);
    expect(places.slice(0, 2)).toEqual([
        ["probes.example.com", undefined],
        ["regions.example.com", undefined],
    ]);
    expect(Object.fromEntries(places.slice(2))).toEqual({ a: "demo-agent", b: undefined });
});
