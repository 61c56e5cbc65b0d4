// Imports of types count too. The key is a part of the repository, the value what it may import besides its own files.
const layers = {
    chaos: [],
    services: [
        "chaos/cluster/in-cluster-api.ts",
        "chaos/cluster/labels.ts",
        "chaos/targets/agent-contract.ts",
        "chaos/targets/attributes.ts",
        "chaos/targets/containers.ts",
    ],
    // experiments/commands/run.js, which stacks of old versions have in their state, hands over to run-step.js.
    experiments: ["chaos/", "toolchain/run-step.js"],
    components: ["chaos/", "toolchain/bundle.ts", "toolchain/pulumi-internals.ts"],
    toolchain: ["chaos/"],
    sandbox: ["toolchain/"],
    "index.ts": ["chaos/", "components/", "experiments/", "toolchain/"],
    cli: ["chaos/", "components/", "experiments/", "index.ts", "sandbox/", "services/", "toolchain/"],
    docs: ["chaos/", "components/"],
    bench: ["chaos/", "cli/", "components/", "experiments/", "index.ts", "sandbox/", "services/", "toolchain/"],
};
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
        ...Object.entries(layers).map(layerRule),
        rule("only tests import tests", { pathNot: test }, { path: test }),
        rule(
            "toolchain may import only types from chaos",
            { path: within("toolchain") },
            { path: within("chaos"), dependencyTypesNot: ["type-only"] },
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
            { path: Object.keys(layers).map(within), pathNot: test },
            { dependencyTypes: ["npm-dev", "npm-optional", "npm-no-pkg", "npm-unknown"] },
        ),
        // What a page imports is resolved by the browser.
        rule("no unresolvable imports", { pathNot: "[.]browser[.]js$" }, { couldNotResolve: true }),
    ],
    options: {
        doNotFollow: { path: "node_modules" },
        // What is built, and programs that import it.
        exclude: { path: ["^chaos/dist/", "^examples/"] },
        tsPreCompilationDeps: true,
        enhancedResolveOptions: {
            exportsFields: ["exports"],
            conditionNames: ["import", "require", "node", "default", "types"],
        },
    },
};
