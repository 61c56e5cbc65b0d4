import type { TestProject } from "vitest/node";
import { sandboxUp } from "../../../sandbox/node/up";

/** Some networks refuse what a NetworkPolicy denies. */
export async function setup({ provide }: TestProject): Promise<void> {
    provide("denied", "reject");
    await sandboxUp(undefined, "reject");
}

export async function teardown(): Promise<void> {
    await sandboxUp(undefined, "drop");
}
