import * as pulumi from "@pulumi/pulumi";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openCluster } from "../../../../components/cluster/cluster";
import type { StackConfiguration } from "../../../../components/configuration/read";
import { inOrder } from "../../../support/in-order";
import { kubeconfigOf } from "../../../support/kubeconfig";
import { scratchFolder } from "../../../support/scratch";
import { type Served, servingObjects } from "../../../support/serving";
import type { Asked } from "../../graph/support";

type Context = "kind-a" | "kind-b";
const objects: Record<Context, Served> = { "kind-a": {}, "kind-b": {} };
const servers = { "kind-a": servingObjects(objects["kind-a"]), "kind-b": servingObjects(objects["kind-b"]) };
const folder = scratchFolder();
function addNamespace(of: Context, name: string, annotations: object, uid = `uid-of-${name}`): void {
    objects[of][`/api/v1/namespaces/${name}`] = { metadata: { name, uid, annotations } };
}
/** What an engine keeps in the state of a stack: the first value of each Stash. */
let state: Map<string, unknown>;
/** Begins again with a state: the engine makes up ids. */
let stateId: string;
/** The identity of the stack that was opened last. */
let identity: string | undefined;
/** The other resources that the state has when an update begins, by their URNs. */
let resources: Record<string, { type: string; outputs: object }>;

const newState = () => {
    state = new Map();
    stateId = randomUUID();
    identity = undefined;
};
beforeEach(() => {
    newState();
    resources = {};
    for (const context of ["kind-a", "kind-b"] as const) {
        for (const path of Object.keys(objects[context])) delete objects[context][path];
        addNamespace(context, "kube-system", {}, `uid-of-${context}`);
    }
    const files = Object.entries({ ...servers, "kind-asleep": { url: "http://127.0.0.1:1" } }).map(([context, at]) => {
        writeFileSync(join(folder, context), kubeconfigOf(context, at.url));
        return join(folder, context);
    });
    vi.stubEnv("KUBECONFIG", files.join(delimiter));
});
afterEach(() => void vi.unstubAllEnvs());

/** What a stack's program asks the engine for when it opens its cluster. */
async function open(settings: Partial<StackConfiguration> = {}, isPreview = false): Promise<Asked[]> {
    const asked: Asked[] = [];
    const newResource = ({ type, name, inputs }: pulumi.runtime.MockResourceArgs) => {
        asked.push({ type, name, inputs: inputs as Record<string, unknown> });
        if (type !== "pulumi:index:Stash") return { id: name, state: inputs as object };
        if (!state.has(name)) state.set(name, (inputs as { input: unknown }).input);
        return { id: stateId && `${name} ${stateId}`, state: { ...inputs, output: state.get(name) } };
    };
    const call = ({ token, inputs }: pulumi.runtime.MockCallArgs) => {
        expect(token).toBe("pulumi:pulumi:readStackResourceOutputs");
        expect(inputs).toEqual({ stackName: "organization/chaos-shop/local" });
        return { outputs: resources };
    };
    await pulumi.runtime.setMocks({ newResource, call }, "chaos-shop", "local", isPreview, "organization");
    try {
        const cluster = await openCluster({ namespace: "demo", placement: {}, ...settings } as StackConfiguration);
        cluster.identity.apply((known) => (identity = known));
    } finally {
        await pulumi.runtime.disconnect();
    }
    return asked;
}

const providerOf = (asked: Asked[]) => asked.find(({ type }) => type === "pulumi:providers:kubernetes");
const moving = "npx pulumi up --replace urn:pulumi:local::chaos-shop::pulumi:index:Stash::cluster";

it("an account that may not read the cluster's identity is told the right, and not to start the cluster", async () => {
    const right = 'get resource "namespaces" in API group "" in the namespace "kube-system"';
    const message = `namespaces "kube-system" is forbidden: User "ada" cannot ${right}`;
    objects["kind-a"]["/api/v1/namespaces/kube-system"] = { kind: "Status", code: 403, message };
    const error = await open().catch(({ message: told }: Error) => told);
    expect(error).toMatch(
        /cannot be used: the account "ada" may not get namespaces in namespace kube-system \(403\)\. .*can-i get/,
    );
    expect(error).not.toContain("start kind");
});

it("a cluster that does not answer is named with its address, and the remedy is to start it", () =>
    expect(open({ kubeContext: "kind-asleep" })).rejects.toThrow(
        inOrder(
            'the cluster of context "kind-asleep" at http://127.0.0.1:1 cannot be used: ',
            "ECONNREFUSED",
            "start kind, or choose another with `npx pulumi config set kube.context NAME",
        ),
    ));

it("namespaces of others are refused together, the agent's too, before anything is made", async () => {
    addNamespace("kind-a", "demo", {});
    addNamespace("kind-a", "demo-agent", { "chaos-shop/stack": "other" });
    const agent = { namespace: "demo-agent" } as StackConfiguration["agent"];
    await expect(open({ agent })).rejects.toThrow(
        inOrder(
            'namespace is "demo", which exists and belongs to no stack',
            'agent.namespace is "demo-agent", which belongs to stack "other"',
        ),
    );
    expect(state.has("cluster")).toBe(false);
});

describe("a state belongs to the cluster that it was made in", () => {
    it("so another one is refused, with both contexts and the command that proceeds", async () => {
        await open();
        const refused = open({ kubeContext: "kind-b" });
        await expect(refused).rejects.toThrow(/made in the cluster of context "kind-a".*context "kind-b".*is another/);
        await expect(refused).rejects.toThrow("npx pulumi config set kube.context kind-a");
        await expect(refused).rejects.toThrow(moving);
    });

    it("so a recreated one is refused, whose context has the same name", async () => {
        await open();
        addNamespace("kind-a", "kube-system", {}, "recreated");
        await expect(open()).rejects.toThrow(`If it was recreated: ${moving}`);
    });

    it("also where it is known by another context", async () => {
        await open();
        state.set("cluster", { uid: "uid-of-kind-b", context: "its earlier name" });
        expect(providerOf(await open({ kubeContext: "kind-b" }))).toBeDefined();
    });

    it("and the provider is told, so that it replaces nothing where only the context's name changes", async () => {
        expect(providerOf(await open())!.inputs.clusterIdentifier).toBe("uid-of-kind-a");
    });
});

describe("an update that moves a stack deletes nothing of somebody else", () => {
    const theirs = { "chaos-shop/stack": "local", "chaos-shop/identity": "theirs" };
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "reader" } };
    const group = "/apis/rbac.authorization.k8s.io/v1";
    const urn = (type: string, name: string) => `urn:pulumi:local::chaos-shop::${type}::${name}`;

    /** A state that was made in a cluster of a context. The user has said that the stack may move: `--replace`. */
    function madeIn(context: string, clusterIdentifier: string): void {
        const object = (kind: string, name: string, namespace?: string) => ({
            type: `kubernetes:core/v1:${kind}`,
            outputs: { apiVersion: "v1", kind, metadata: { name, namespace } },
        });
        const [provider, release] = ["pulumi:providers:kubernetes", "kubernetes:helm.sh/v3:Release"];
        resources = {
            [urn(provider, "cluster")]: { type: provider, outputs: { context, clusterIdentifier } },
            [urn("kubernetes:core/v1:Namespace", "demo")]: object("Namespace", "demo"),
            [urn("kubernetes:core/v1:Service", "gateway")]: object("Service", "gateway", "demo"),
            [urn("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "reader")]: { type: "", outputs: role },
            [urn(release, "agent")]: { type: release, outputs: { name: "agent", namespace: "demo" } },
        };
    }
    /** Resolves with the resources asked for, and rejects with the refusal. */
    const move = (kubeContext: string) => open({ kubeContext, namespace: "demo-local" });
    const knowRoles = () =>
        void (objects["kind-a"][group] = {
            resources: [{ name: "clusterroles", kind: "ClusterRole", namespaced: false, verbs: [] }],
        });

    it.each([
        ["cluster was recreated under its context", "kind-a", "an earlier one"],
        ["cluster still exists", "kind-b", "uid-of-kind-a"],
    ])("that has the name of a namespace that the stack had, if the %s", async (_, to, uid) => {
        madeIn("kind-a", uid);
        addNamespace("kind-a", "demo", theirs);
        const refused = move(to);
        await expect(refused).rejects.toThrow(
            'Stopped before anything was deleted: namespace demo belongs to another stack named "local", ',
        );
        await expect(refused).rejects.toThrow("npx pulumi stack rm local --force --preserve-config");
    });

    it("that has the name of an object outside of the stack's namespaces", async () => {
        madeIn("kind-a", "an earlier one");
        knowRoles();
        objects["kind-a"][`${group}/clusterroles/reader`] = { ...role, metadata: { annotations: theirs } };
        await expect(move("kind-a")).rejects.toThrow("ClusterRole.v1.rbac.authorization.k8s.io reader belongs to");
    });

    it("that is in a third cluster, to which the context leads by now", async () => {
        madeIn("kind-a", "an earlier one");
        await expect(move("kind-b")).rejects.toThrow('context "kind-a" leads to another cluster than the one');
    });

    it("that nobody can ask about, unless Pulumi may forget what it cannot reach", async () => {
        madeIn("kind-c", "an earlier one");
        await expect(move("kind-a")).rejects.toThrow('the kubeconfig has no context "kind-c"');
        vi.stubEnv("PULUMI_K8S_DELETE_UNREACHABLE", "true");
        expect(providerOf(await move("kind-a"))).toBeDefined();
    });

    it("and moves if everything is gone, or the stack's own", async () => {
        madeIn("kind-a", "an earlier one");
        knowRoles();
        expect(providerOf(await move("kind-a"))).toBeDefined();
        addNamespace("kind-a", "demo", { "chaos-shop/identity": identity! });
        expect(providerOf(await move("kind-a"))).toBeDefined();
    });

    it("and a stack that stays asks nobody", async () => {
        madeIn("kind-a", "uid-of-kind-a");
        addNamespace("kind-a", "demo", theirs);
        expect(providerOf(await move("kind-a"))).toBeDefined();
    });
});

describe("a stack is more than its name", () => {
    const annotate = (annotations: Record<string, string>) =>
        addNamespace("kind-a", "demo", { "chaos-shop/stack": "local", ...annotations });
    const hasService = () =>
        void (objects["kind-a"]["/api/v1/namespaces/demo/services"] = {
            items: [{ metadata: { name: "gateway" } }],
        });

    it("so the namespace of a stack of the same name in another backend is refused", async () => {
        await open();
        annotate({ "chaos-shop/identity": identity! });
        hasService();
        newState();
        const refused = open();
        await expect(refused).rejects.toThrow(/belongs to another stack named "local".*in another backend/);
        await expect(refused).rejects.toThrow("demo chaos-shop/stack=local chaos-shop/identity-");
        expect(state.has("cluster")).toBe(false);
    });

    it("and its identity stays the same from the first update on", async () => {
        await open();
        const first = identity;
        expect(first).toMatch(/^[0-9a-f]{16}$/);
        annotate({ "chaos-shop/identity": first! });
        hasService();
        await open();
        expect(identity).toBe(first);
    });

    it("also that of a version which made it up itself", async () => {
        state.set("identity", "0a1b2c3d4e5f6071");
        await open();
        expect(identity).toBe("0a1b2c3d4e5f6071");
    });

    it("and it is unknown to the first preview, which refuses what names any", async () => {
        const found = () => addNamespace("kind-a", "demo", { "chaos-shop/identity": "0a1b2c3d4e5f6071" });
        stateId = "";
        await open({}, true);
        expect(identity).toBeUndefined();
        found();
        await expect(open({}, true)).rejects.toThrow("belongs to no stack");
    });

    it("and two stacks never get the same", async () => {
        await open();
        const first = identity;
        newState();
        await open();
        expect(identity).not.toBe(first);
    });

    it("a namespace that a destroyed stack of its name kept is taken over only if told to", async () => {
        annotate({ "chaos-shop/identity": "0123456789abcdef" });
        objects["kind-a"]["/api/v1/namespaces/demo/services"] = { items: [] };
        await expect(open()).rejects.toThrow(
            "may take over what it has kept, claims with their data: kubectl --context kind-a annotate " +
                "--overwrite namespace demo chaos-shop/stack=local chaos-shop/identity-",
        );
        annotate({});
        expect(providerOf(await open())).toBeDefined();
    });
});

it("the provider reads the same kubeconfig as the program, also if it is several files", async () => {
    const { inputs } = providerOf(await open({ kubeContext: "kind-b" }))!;
    // Empty: it reads KUBECONFIG itself, merges the files as kubectl does, and keeps no copy.
    expect(inputs).toMatchObject({ context: "kind-b", kubeconfig: "" });
});
