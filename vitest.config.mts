import { defineConfig } from "vitest/config";

/** Tests that stop a part of the sandbox, or all of it. */
const alone = [
    ...["lifecycle", "network-policy"].map((file) => `sandbox/test/e2e/${file}.test.ts`),
    ...["trials", "unenforced"].map((file) => `test/e2e/${file}.test.ts`),
];
const patience = { testTimeout: 300_000, hookTimeout: 600_000 };

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
                    maxWorkers: 2,
                    testTimeout: 60_000,
                    hookTimeout: 60_000,
                },
            },
            // Each file has a namespace. Two run at a time, since they mostly wait.
            {
                test: {
                    name: "e2e",
                    include: ["test/e2e/**/*.test.ts", "sandbox/test/e2e/*.test.ts"],
                    exclude: alone,
                    maxWorkers: 2,
                    globalSetup: "test/e2e/network/drop.ts",
                    ...patience,
                },
            },
            // Again where the network refuses what a policy denies.
            {
                test: {
                    name: "e2e-reject",
                    include: ["story", "resilience"].map((file) => `test/e2e/shop/${file}.test.ts`),
                    maxWorkers: 2,
                    globalSetup: "test/e2e/network/reject.ts",
                    ...patience,
                },
            },
            {
                test: {
                    name: "e2e-alone",
                    include: alone,
                    fileParallelism: false,
                    globalSetup: "test/e2e/network/drop.ts",
                    ...patience,
                },
            },
        ],
    },
});
