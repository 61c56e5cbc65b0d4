/** What other parts may import from chaos: the package's own face, and what the shop's programs share with it. */
const face = {
    package: ["chaos/index.ts"],
    clusters: [
        ...["client", "guard", "kubeconfig", "labels", "problem", "resources", "verbs"].map(
            (file) => `chaos/cluster/${file}.ts`,
        ),
        "chaos/pods/pod-security.ts",
    ],
    values: ["chaos/values/"],
    /** How settings are read, and what they contradict. */
    settings: [
        "chaos/kinds/attacks/registry.ts",
        "chaos/kinds/checks/abort.ts",
        "chaos/kinds/checks/change-limits.ts",
        "chaos/kinds/checks/check-kind.ts",
        "chaos/kinds/checks/confidence.ts",
        "chaos/definition/patch.ts",
        "chaos/definition/answers-fault.ts",
        "chaos/definition/change-mistakes.ts",
        "chaos/definition/confidence-mistakes.ts",
        "chaos/definition/time-mistakes.ts",
        "chaos/targets/radius.ts",
    ],
    /** How a Service is asked, and what it answers. */
    checks: [
        ...["answer", "http", "registry", "route", "service"].map((file) => `chaos/kinds/checks/${file}.ts`),
        "chaos/definition/definition.ts",
    ],
    /** The agent, and what is discovered. */
    targets: [
        ...["agents", "attributes", "containers", "discover", "nodes"].map((file) => `chaos/targets/${file}.ts`),
        "chaos/kinds/checks/service.ts",
    ],
    /** Values and programs that the state keeps. */
    state: ["chaos/lease/lease-record.ts", "chaos/pods/packed.ts", "chaos/face/stash.ts"],
    /** What is known of a run while it lasts, and afterwards. */
    runs: [
        "chaos/lease/lease.ts",
        "chaos/lease/lease-record.ts",
        "chaos/lease/running.ts",
        "chaos/rights/",
        "chaos/report/",
        "chaos/cli/",
        "chaos/definition/plan.ts",
        "chaos/run/contract.ts",
    ],
};

// Imports of types count too. The key is a part of the repository, the value what it may import besides its own files.
const layers = {
    chaos: [],
    services: [
        "chaos/cluster/in-cluster-api.ts",
        "chaos/cluster/labels.ts",
        "chaos/targets/attributes.ts",
        "chaos/targets/containers.ts",
    ],
    experiments: [
        ...[...face.package, ...face.checks, "chaos/cluster/client.ts", "chaos/definition/patch.ts"],
        ...["chaos/face/first-acts.ts", "chaos/face/stash.ts"],
    ],
    components: [
        ...[...face.package, ...face.clusters, ...face.values, ...face.settings, ...face.targets, ...face.state],
        "toolchain/bundle.ts",
        "toolchain/download.ts",
        "toolchain/pulumi-internals.ts",
    ],
    toolchain: ["chaos/cluster/proxy.ts", "chaos/pods/packed.ts", "chaos/pods/built-programs.ts"],
    sandbox: ["toolchain/"],
    "index.ts": [...face.package, "components/", "experiments/", "toolchain/"],
    cli: [
        ...[...face.clusters, ...face.values, ...face.checks, ...face.targets, ...face.runs],
        ...["components/", "experiments/", "index.ts", "sandbox/", "services/", "toolchain/"],
    ],
    docs: [
        ...["actions", "attacks", "checks"].map((kinds) => `chaos/kinds/${kinds}/registry.ts`),
        ...["chaos/cluster/resources.ts", "chaos/definition/"],
        ...["chaos/ending/left.ts", "chaos/rights/"],
        ...[...face.values, ...["conclusion", "markup"].map((file) => `chaos/report/${file}.ts`)],
        ...["chaos/face/experiment.ts", "cli/command.ts", "cli/programs.ts", "components/", "experiments/"],
    ],
    bench: ["chaos/", "cli/", "components/", "experiments/", "index.ts", "sandbox/", "services/", "toolchain/"],
};
/** The folders of chaos from the top down: each may import only from those below it. */
const floors = [
    ...["face", "cli", "run", "report", "proof", "witness", "rights", "ending", "lease", "definition", "kinds"],
    ...["policies", "targets", "pods", "cluster", "values"],
].map((folder) => `chaos/${folder}`);
const test = "(^|/)test/";

const literally = (path) => path.replaceAll(".", "[.]");
const within = (part) => `^${literally(part)}(/|$)`;
const rule = (name, from, to) => ({ name, severity: "error", from, to });

const layerRule = ([part, others]) =>
    rule(
        `${part} may import ${others.join(", ") || "no other part"}`,
        { path: within(part), pathNot: test },
        {
            path: Object.keys(layers).map(within),
            pathNot: [within(part), ...others.map((other) => `^${literally(other)}`)],
        },
    );

module.exports = {
    forbidden: [
        rule("no import cycles", {}, { circular: true }),
        {
            ...rule("no cycles among the folders of chaos", { path: "^chaos/" }, { circular: true }),
            scope: "folder",
        },
        ...floors.map((folder, index) =>
            rule(
                `${folder} may import only what is below it`,
                { path: within(folder) },
                { path: ["chaos/index.ts", ...floors.slice(0, index)].map(within) },
            ),
        ),
        ...Object.entries(layers).map(layerRule),
        rule("only tests import tests", { pathNot: test }, { path: test }),
        // And how a proxy is chosen, and programs are packed.
        rule(
            "toolchain may import only types from chaos",
            { path: within("toolchain") },
            {
                path: within("chaos"),
                pathNot: literally("chaos/(cluster/proxy|pods/packed).ts"),
                dependencyTypesNot: ["type-only"],
            },
        ),
        rule(
            "chaos and services work without kubernetesx",
            { path: ["chaos", "services"].map(within) },
            { path: "(^|/)node_modules/@pulumi/kubernetesx/" },
        ),
        rule("services work without Pulumi", { path: within("services") }, { path: "(^|/)node_modules/@pulumi/" }),
        // The package.json that counts is the nearest one.
        rule(
            "package.json lists each imported package in its dependencies",
            // What is left out builds the package, or writes the pages.
            {
                path: Object.keys(layers).map(within),
                pathNot: [test, ...["toolchain/build-chaos.ts", "docs"].map(within)],
            },
            // The package leaves out the types that it imports, and does not bring its peers.
            {
                dependencyTypes: ["npm-dev", "npm-optional", "npm-no-pkg", "npm-unknown"],
                dependencyTypesNot: ["type-only", "npm-peer"],
            },
        ),
        // What a page imports is resolved by the browser.
        rule("no unresolvable imports", { pathNot: "[.]browser[.]js$" }, { couldNotResolve: true }),
    ],
    options: {
        doNotFollow: { path: "node_modules" },
        // What is built, and programs that import it.
        exclude: { path: ["^chaos/dist/", "^examples/", "^bench/peers/program/"] },
        tsPreCompilationDeps: true,
        enhancedResolveOptions: {
            exportsFields: ["exports"],
            conditionNames: ["import", "require", "node", "default", "types"],
        },
    },
};
