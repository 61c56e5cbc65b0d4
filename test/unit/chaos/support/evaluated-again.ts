import { vi } from "vitest";

/**
 * A module, evaluated again with the mocks of the test file: an import that an earlier file of the process has left
 * running may have evaluated it without them.
 */
export function evaluatedAgain<T>(load: () => Promise<T>): Promise<T> {
    vi.resetModules();
    return load();
}
