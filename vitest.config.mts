import { defineConfig } from "vitest/config";

/** `npm run test:all` runs every file, with all its cases. */
const all = process.env.TEST_ALL === "true";

const inAll = [
    ...["again", "refresh", "targets", "ways", "zones"].map((file) => `test/e2e/experiments/${file}.test.ts`),
    ...["production", "ways"].map((file) => `test/e2e/install/${file}.test.ts`),
    "test/e2e/shop/rolling.test.ts",
    ...["network-facts", "storage"].map((file) => `sandbox/test/e2e/${file}.test.ts`),
];
/** Tests that stop a part of the sandbox, or all of it: alone, after the others. */
const aloneInAll = [
    "test/e2e/unenforced.test.ts",
    "test/e2e/all/trials-alone.test.ts",
    ...["network-policy", "lifecycle"].map((file) => `sandbox/test/e2e/${file}.test.ts`),
];

/** Tests that measure programs of the lowest priority, which get next to no processor beside others. */
const alone = {
    services: ["test/real-time/stress-programs.test.ts"],
    e2e: ["test/e2e/experiments/stress.test.ts"],
};

/** What `npm run test:networks` shows on each network that the sandbox can have, and where. */
const onEachNetwork = {
    "the demo's story: an attack is proven, FAILED, undone, then PASSED": "test/e2e/shop/story.test.ts",
    "directions, ports, peers, addresses, DNS: proof, positive control, open connections, undo":
        "test/e2e/experiments/ways.test.ts",
    "another run, and the targets of the earlier one": "test/e2e/experiments/again.test.ts",
    "namespaces with default deny": "test/e2e/experiments/policed.test.ts",
    "faults, and Services that lead to a proxy and back": "test/e2e/experiments/fault.test.ts",
    "deleted pods and their replacements": "test/e2e/experiments/kill.test.ts",
    "the agent": "test/e2e/agent/builtin.test.ts",
    "the shop's own policies": "test/e2e/shop/policies.test.ts",
    "a shop whose backend is not ready, or answers nothing": "test/e2e/shop/resilience.test.ts",
    "Services, LoadBalancers, names": "sandbox/test/e2e/services.test.ts",
    "each row of docs/networks.md": "sandbox/test/e2e/network-facts.test.ts",
};
/** What changes the network or loses a node runs after the others. */
const onEachNetworkAlone = {
    "denied traffic, dropped or rejected": "sandbox/test/e2e/network-policy.test.ts",
    "on two nodes: a drained node, a lost node": "test/e2e/two-nodes.test.ts",
    "pods and Services with IPv6": "test/e2e/ip-families.test.ts",
};

/** These change from one to the other. */
const betweenNetworks = "sandbox/test/e2e/changes.test.ts";

const endToEnd = {
    testTimeout: 300_000,
    hookTimeout: 600_000,
    // Runs the stack's program in the tests' process, as the programs of `npm run` do.
    execArgv: ["--import", "tsx"],
    provide: { all },
};
const whereDropped = { ...endToEnd, globalSetup: "test/e2e/setup-drop.ts" };

export default defineConfig({
    test: {
        projects: [
            // Without isolation, files share the loaded Pulumi SDK: half the time. No file leaves state behind.
            {
                test: {
                    name: "unit",
                    include: ["test/unit/**/*.test.ts", "sandbox/test/unit/*.test.ts"],
                    isolate: false,
                    testTimeout: 20_000,
                },
            },
            // Real processes, which are slow on a busy machine.
            {
                test: {
                    name: "services",
                    include: ["test/services/**/*.test.ts", "test/real-time/**/*.test.ts"],
                    exclude: alone.services,
                    maxWorkers: 3,
                    testTimeout: 60_000,
                    hookTimeout: 60_000,
                },
            },
            {
                test: {
                    name: "services-alone",
                    include: alone.services,
                    maxWorkers: 1,
                    sequence: { groupOrder: 1 },
                    testTimeout: 60_000,
                    hookTimeout: 60_000,
                },
            },
            // Each worker has a shop for the files that do not test its installation; the others have a namespace each.
            {
                test: {
                    name: "e2e",
                    include: ["test/e2e/**/*.test.ts", "sandbox/test/e2e/*.test.ts"],
                    exclude: [
                        ...[...alone.e2e, ...aloneInAll],
                        ...[...Object.values(onEachNetworkAlone), betweenNetworks],
                        ...(all ? [] : ["test/e2e/all/**", ...inAll]),
                    ],
                    maxWorkers: 3,
                    ...whereDropped,
                },
            },
            {
                test: {
                    name: "e2e-alone",
                    include: [...alone.e2e, ...(all ? aloneInAll : [])],
                    maxWorkers: 1,
                    sequence: { groupOrder: 1 },
                    ...whereDropped,
                },
            },
            // Again where the network refuses what a policy denies.
            {
                test: {
                    name: "e2e-reject",
                    include: ["story", "resilience"].map((file) => `test/e2e/shop/${file}.test.ts`),
                    maxWorkers: 2,
                    ...endToEnd,
                    globalSetup: "test/e2e/setup-reject.ts",
                },
            },
            // On the network that the sandbox has.
            {
                test: {
                    name: "networks",
                    include: Object.values(onEachNetwork),
                    maxWorkers: 3,
                    ...endToEnd,
                    globalSetup: "test/e2e/setup-networks.ts",
                },
            },
            // Of the networks, one after the other.
            {
                test: {
                    name: "networks-changes",
                    include: [betweenNetworks],
                    ...endToEnd,
                    globalSetup: "test/e2e/setup-networks.ts",
                },
            },
            {
                test: {
                    name: "networks-alone",
                    include: Object.values(onEachNetworkAlone),
                    maxWorkers: 1,
                    sequence: { groupOrder: 1 },
                    ...endToEnd,
                    globalSetup: "test/e2e/setup-networks.ts",
                },
            },
        ],
    },
});
