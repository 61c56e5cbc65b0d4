import { defineConfig } from "vitest/config";

export default defineConfig({
    test: {
        projects: [
            { test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 20_000 } },
            // Real processes, which on a busy machine take their time.
            { test: { name: "services", include: ["test/services/**/*.test.ts"], maxWorkers: 2, testTimeout: 60_000, hookTimeout: 60_000 } },
            // One cluster, one thing at a time.
            { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], fileParallelism: false, testTimeout: 300_000, hookTimeout: 600_000 } },
        ],
    },
});
