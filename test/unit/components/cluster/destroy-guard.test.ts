import * as pulumi from "@pulumi/pulumi";
import { getMonitor } from "@pulumi/pulumi/runtime/settings";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { guardDestroy } from "../../../../components/cluster/destroying/guard";
import { type Allowed, whyNotDestroy } from "../../../../components/cluster/destroying/refusal";
import { UnreachableError } from "../../../../components/cluster/reading";
import { kubeconfigOf } from "../../../support/kubeconfig";
import { scratchFolder } from "../../../support/scratch";
import { serving } from "../../../support/serving";

const own = { "chaos-shop/stack": "local", "chaos-shop/identity": "ours" };
const guarded = {
    ...{ stack: "local", identity: "ours", uid: "uid-of-a", context: "kind-a" },
    namespaces: ["demo", "demo-agent"],
};
const role = {
    path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/reader",
    words: ["ClusterRole.v1.rbac.authorization.k8s.io", "reader"],
};
const leasePath = "/apis/coordination.k8s.io/v1/namespaces/demo/leases/chaos-experiment";
const theirs = { "chaos-shop/stack": "cloud", "chaos-shop/identity": "theirs" };
/** Who holds the lease of this stack's run. */
const ours = "stack local/ours (its application is in demo)";

interface Look {
    uid?: string;
    /** Annotations of the namespaces that exist, and of other objects by their paths. */
    found?: Record<string, object>;
    /** Who holds the lease of the namespace that the experiment attacks. @default nobody */
    holder?: string;
    /** When that was, and for how long: in seconds. @default now, for an hour */
    held?: { ago: number; for: number };
    /** The cluster's clock before this machine's, in seconds. @default 0 */
    clockAhead?: number;
    /** On that lease. @default none */
    notes?: Record<string, string>;
    error?: Error;
    allowed?: Allowed;
}

const time = ({ ago, for: leaseDurationSeconds }: { ago: number; for: number }) => ({
    renewTime: new Date(Date.now() - ago * 1_000).toISOString(),
    leaseDurationSeconds,
});

/** Why the stack is not destroyed in a cluster like this one. */
const refusal = ({
    uid = "uid-of-a",
    found = {},
    holder,
    held = { ago: 0, for: 3_600 },
    clockAhead = 0,
    notes,
    error,
    allowed,
}: Look) =>
    whyNotDestroy(
        { ...guarded, objects: [role], attacked: "demo" },
        async (path) => {
            if (error) throw error;
            if (path === leasePath)
                return holder === undefined
                    ? undefined
                    : {
                          metadata: { annotations: notes },
                          spec: { holderIdentity: holder, ...time({ ...held, ago: held.ago - clockAhead }) },
                          readAt: Date.now() + clockAhead * 1_000,
                      };
            const name = path.replace("/api/v1/namespaces/", "");
            if (name === "kube-system") return { metadata: { name, uid } };
            return found[name] && { metadata: { name, annotations: found[name] as Record<string, string> } };
        },
        allowed,
    );

const unreachable = new UnreachableError("connect ECONNREFUSED 127.0.0.1:6443");
const rename = "npx pulumi config set kube.context NAME --stack local && npx pulumi up --stack local";
const forget = "npx pulumi stack rm local --force --preserve-config";

describe("destroying a stack goes on", () => {
    it.each<[string, Look]>([
        ["while its namespaces are its own", { found: { demo: own, "demo-agent": own } }],
        ["while its cluster-wide objects are its own", { found: { demo: own, [role.path]: own } }],
        ["if they are gone", {}],
        ["if one was handed over to it", { found: { demo: { "chaos-shop/stack": "local" } } }],
        [
            "in the cluster that somebody has moved it to",
            { uid: "uid-of-b", found: { demo: own }, allowed: { movedTo: "uid-of-b" } },
        ],
        ["if Pulumi was told to forget what it cannot reach", { error: unreachable, allowed: { unreachable: true } }],
    ])("%s", async (_, look) => expect(await refusal(look)).toBeUndefined());
});

describe("destroying a stack stops, and says what to do,", () => {
    it.each<[string, Look, string[]]>([
        [
            "if the context leads to another cluster by now, also if an unreachable one may be left",
            { uid: "uid-of-b", allowed: { unreachable: true } },
            ['context "kind-a" leads to another cluster', "uid-of-b and uid-of-a", "with the KUBECONFIG of", forget],
        ],
        [
            "if an update that was interrupted has moved it there",
            { uid: "uid-of-b", found: { demo: own } },
            ["CHAOS_SHOP_MOVED_TO=uid-of-b npx pulumi destroy --stack local"],
        ],
        [
            "if it was moved there, but a namespace is somebody else's",
            { uid: "uid-of-b", found: { demo: own, "demo-agent": {} }, allowed: { movedTo: "uid-of-b" } },
            ["namespace demo-agent exists and belongs to no stack by now"],
        ],
        [
            "if it was moved to a third cluster",
            { uid: "uid-of-b", found: { demo: own }, allowed: { movedTo: "uid-of-c" } },
            ['context "kind-a" leads to another cluster'],
        ],
        [
            "if a namespace is another stack's by now",
            { found: { demo: theirs, "demo-agent": own } },
            [
                'namespace demo belongs to stack "cloud" by now',
                "annotate --overwrite namespace demo chaos-shop/stack=local chaos-shop/identity-",
                forget,
            ],
        ],
        [
            "if a cluster-wide object is another stack's by now",
            { found: { demo: own, "demo-agent": own, [role.path]: theirs } },
            [
                'ClusterRole.v1.rbac.authorization.k8s.io reader belongs to stack "cloud" by now',
                "If this stack may delete ClusterRole.v1.rbac.authorization.k8s.io reader: kubectl --context kind-a " +
                    "annotate --overwrite ClusterRole.v1.rbac.authorization.k8s.io reader chaos-shop/stack=local " +
                    "chaos-shop/identity-",
                "local was the stack's name at its last update; if it was renamed since, name it as it is now",
            ],
        ],
        [
            "and how to end the attack that goes on, if there is one",
            { found: { demo: theirs }, holder: "stack local-before/ours (its application is in demo)" },
            ["To end it now: kubectl --context kind-a --namespace demo delete lease chaos-experiment"],
        ],
        [
            "also if this machine's clock is ahead of the cluster's",
            { found: { demo: theirs }, holder: ours, held: { ago: 60, for: 780 }, clockAhead: -7_200 },
            ["To end it now: "],
        ],
        [
            "and that an attack may go on in a cluster that cannot be reached",
            { error: unreachable },
            ["If its experiment is enabled, an attack on namespace demo of the stack's cluster goes on until its"],
        ],
        [
            "if somebody has made it again",
            { found: { "demo-agent": {} } },
            [
                "namespace demo-agent exists and belongs to no stack by now",
                "namespace demo-agent chaos-shop/stack=local",
            ],
        ],
        [
            "if the cluster cannot be reached",
            { error: unreachable },
            ["ECONNREFUSED", "start it or log in", rename, forget],
        ],
        [
            "if the cluster does not say which it is, also if Pulumi may forget what it cannot reach",
            { error: new Error("the API server answered with status 403: forbidden"), allowed: { unreachable: true } },
            ["status 403: forbidden"],
        ],
    ])("%s", async (_, look, expected) => {
        const refused = await refusal(look);
        expect(refused).toMatch(/^Stopped before anything was deleted: /);
        for (const words of expected) expect(refused).toContain(words);
    });
});

it.each<[string, Look]>([
    ["nobody holds the lease", {}],
    ["another stack holds it", { holder: "stack local/theirs (its application is in demo)" }],
    ["the attacks of its run were ended", { holder: ours, notes: { "chaos-experiments/ended": '{"at":1}' } }],
    [
        "the deadline of its run has passed, also if this machine's clock is behind the cluster's",
        { holder: ours, held: { ago: 7_200, for: 780 }, clockAhead: 7_200 },
    ],
    ["the deadline of its run has passed", { holder: ours, held: { ago: 7_200, for: 780 } }],
])("a refusal says of no attack that it goes on if %s", async (_, look) =>
    expect(await refusal({ found: { demo: theirs }, ...look })).not.toMatch(/experiment/),
);

it("a refusal names objects of a manifest as people do, and warns of all that a namespace has", async () => {
    const paths = {
        binding: "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings/agent",
        namespace: "/api/v1/namespaces/vendor-system",
    };
    const objects = [
        {
            path: paths.binding,
            words: ["--namespace", "kube-system", "RoleBinding.v1.rbac.authorization.k8s.io", "agent"],
        },
        { path: paths.namespace, words: ["Namespace", "vendor-system"] },
    ];
    const metadata = { annotations: theirs };
    const refused = await whyNotDestroy({ ...guarded, namespaces: [], objects }, async (path) =>
        path.endsWith("kube-system") ? { metadata: { uid: "uid-of-a" } } : { metadata },
    );
    expect(refused).toContain('RoleBinding.v1.rbac.authorization.k8s.io kube-system/agent belongs to stack "cloud"');
    expect(refused).toContain("If this stack may delete Namespace vendor-system with everything in it: kubectl ");
});

interface RegisterRequest {
    getName(): string;
    getDependenciesList(): string[];
}

/** What the engine is told of the guard of a stack with a component, in an update. */
async function register(): Promise<{ inputs: Record<string, any>; dependencies: string[] }> {
    const guard = { inputs: {}, dependencies: [] as string[] };
    const newResource = ({ type, name, inputs }: pulumi.runtime.MockResourceArgs) => {
        if (type === "command:local:Command") guard.inputs = inputs as object;
        return { id: name, state: inputs as object };
    };
    await pulumi.runtime.setMocks({ newResource, call: ({ inputs }) => inputs as object }, "chaos-shop", "local");
    const monitor = getMonitor() as unknown as { registerResource: (asked: RegisterRequest, done: unknown) => unknown };
    const registerResource = monitor.registerResource.bind(monitor);
    // The mocks are not told of dependencies.
    monitor.registerResource = (asked, done) => {
        if (asked.getName() === "destroy-guard") guard.dependencies = asked.getDependenciesList();
        return registerResource(asked, done);
    };
    const shop = new pulumi.ComponentResource("chaos-shop:shop:Shop", "shop");
    new pulumi.Stash("part", { input: 1 }, { parent: shop });
    const context = { name: "kind-a", server: "https://127.0.0.1" };
    const agent = { namespace: "demo-agent" };
    guardDestroy(
        { namespace: "demo", agent } as Parameters<typeof guardDestroy>[0],
        { uid: "uid-of-a", context, identity: pulumi.output("ours") },
        [shop, undefined],
        { objects: [role], attacked: "demo" },
    );
    await pulumi.runtime.disconnect();
    return guard;
}

it("the guard depends on all parts of components, and on what the state keeps, so it is deleted first", async () => {
    const names = (await register()).dependencies.map((urn) => urn.split("::").at(-1));
    expect(names.sort()).toEqual(["cluster", "identity", "part"]);
});

describe("the command that Pulumi runs", () => {
    const folder = scratchFolder();
    const annotationsOf: Record<string, object> = {};
    const server = serving(({ url }, response) => {
        const name = url!.split("/").at(-1)!;
        const annotations = name === "kube-system" ? {} : annotationsOf[name];
        response.writeHead(annotations ? 200 : 404, { "content-type": "application/json" });
        response.end(JSON.stringify({ metadata: { name, uid: "uid-of-a", annotations } }));
    });
    let inputs: Record<string, any>;
    beforeAll(async () => {
        ({ inputs } = await register());
        writeFileSync(join(folder, "config"), kubeconfigOf("kind-a", server.url));
    });
    beforeEach(() => {
        for (const name of Object.keys(annotationsOf)) delete annotationsOf[name];
    });

    /** Runs it in another folder. @returns its exit code, and what it printed */
    async function run(env: NodeJS.ProcessEnv = {}, command: "create" | "update" | "delete" = "delete") {
        const kubeconfig = { KUBECONFIG: join(folder, "config"), PATH: process.env.PATH };
        const all = { ...kubeconfig, ...(inputs.environment as NodeJS.ProcessEnv), ...env };
        const child = spawn("sh", ["-c", inputs[command] as string], { cwd: folder, env: all });
        let printed = "";
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
        child.stdin.end(inputs.stdin);
        const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
        return { code, printed };
    }

    it("needs nothing but Node.js and the kubeconfig", async () => {
        annotationsOf.demo = own;
        expect(await run()).toEqual({ code: 0, printed: "" });
    });

    it("fails with the reason", async () => {
        annotationsOf.demo = { "chaos-shop/stack": "cloud" };
        const { code, printed } = await run();
        expect(code).toBe(1);
        expect(printed).toMatch(
            /^Stopped before anything was deleted: namespace demo belongs to stack "cloud" by now\./,
        );
    });

    it("prints no credentials that are in the server's address", async () => {
        const KUBECONFIG = join(folder, "with-password");
        const text = readFileSync(join(folder, "config"), "utf8");
        writeFileSync(KUBECONFIG, text.replace(/http:\/\/127\.0\.0\.1:\d+/, "http://me:hush@127.0.0.1:1"));
        const { printed } = await run({ KUBECONFIG });
        expect(printed).toContain("127.0.0.1:1");
        expect(printed).not.toContain("hush");
    });

    it.each([
        ["the kubeconfig is gone", { KUBECONFIG: "/nowhere/config" }, /KUBECONFIG is "\/nowhere\/config"/],
        ["it has no such context", { KUBECONFIG: "/dev/null" }, /the kubeconfig has no context "kind-a"/],
    ])("stops if %s, unless Pulumi may forget what it cannot reach", async (_, env, reason) => {
        expect(await run(env)).toMatchObject({ code: 1, printed: expect.stringMatching(reason) });
        expect(await run({ ...env, PULUMI_K8S_DELETE_UNREACHABLE: "true" })).toEqual({ code: 0, printed: "" });
    });

    describe("in an update, before anything is deleted,", () => {
        const before = async (namespaces: string[], changes: object = {}) => {
            const { printed } = await run({}, "create");
            const noted = { ...(JSON.parse(printed) as object), namespaces, ...changes };
            return run({ PULUMI_COMMAND_STDOUT: JSON.stringify(noted) }, "update");
        };
        const asPrinted = () =>
            expect.objectContaining({ code: 0, printed: expect.stringMatching(/^\{"stack":"local".*\}$/) });

        it.each<[string, Record<string, object>, string[], object]>([
            ["that leaves no namespace", { demo: {} }, ["demo"], {}],
            ["that leaves one of its own, or that is gone", { shop: own }, ["shop", "shop-agent"], {}],
            ["that has left another cluster", { shop: {} }, ["shop"], { uid: "uid-of-b" }],
        ])("goes on with a stack %s", async (_, found, namespaces, changes) => {
            Object.assign(annotationsOf, found);
            expect(await before(namespaces, changes)).toEqual(asPrinted());
        });

        it("goes on with a stack that has noted nothing yet", async () =>
            expect(await run({}, "update")).toEqual(asPrinted()));

        it("needs no cluster for that", async () =>
            expect(await run({ KUBECONFIG: "/nowhere/config" }, "update")).toEqual(asPrinted()));

        it("stops if it would delete an object that is somebody else's by now", async () => {
            annotationsOf.reader = theirs;
            const other = { ...role, path: role.path.replace("v1", "v1beta1") };
            const goesOn = await before(guarded.namespaces, { objects: [role] });
            expect(goesOn).toEqual(asPrinted());
            const { code, printed } = await before(guarded.namespaces, { objects: [role, other] });
            expect([code, printed]).toEqual([1, expect.stringContaining('reader belongs to stack "cloud" by now')]);
        });

        it("stops if it would delete a namespace that is somebody else's by now", async () => {
            annotationsOf.shop = theirs;
            const { code, printed } = await before(["shop", "demo-agent"]);
            expect(code).toBe(1);
            expect(printed).toMatch(
                /^Stopped before anything was deleted: namespace shop belongs to stack "cloud" by now\./,
            );
        });
    });
});
