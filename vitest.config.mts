import { defineConfig } from "vitest/config";

/** What stops or loads the whole sandbox, or borrows a stack's file. */
const alone = [
    "test/e2e/sandbox/*.test.ts",
    ...["refusals", "rolling", "experiment-program"].map((file) => `test/e2e/shop/${file}.test.ts`),
];
const patience = { testTimeout: 300_000, hookTimeout: 600_000 };

export default defineConfig({
    test: {
        projects: [
            // Nothing of one file's stays behind for the next, so that none has to load the SDK anew: half of the time.
            { test: { name: "unit", include: ["test/unit/**/*.test.ts"], isolate: false, testTimeout: 20_000 } },
            // Real processes, which on a busy machine take their time.
            {
                test: {
                    name: "services",
                    include: ["test/services/**/*.test.ts"],
                    maxWorkers: 2,
                    testTimeout: 60_000,
                    hookTimeout: 60_000,
                },
            },
            // A namespace each: two at a time, since much of each is waiting.
            { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], exclude: alone, maxWorkers: 2, ...patience } },
            { test: { name: "e2e-alone", include: alone, fileParallelism: false, ...patience } },
        ],
    },
});
