import type { TestProject } from "vitest/node";
import type { DeniedTraffic } from "../../../sandbox/node/components/network-policy";
import { sandboxUp } from "../../../sandbox/node/up";

declare module "vitest" {
    interface ProvidedContext {
        /** What the network does with traffic that a NetworkPolicy denies. */
        denied: DeniedTraffic;
    }
}

/** Most networks drop what a NetworkPolicy denies. */
export async function setup({ provide }: TestProject): Promise<void> {
    provide("denied", "drop");
    await sandboxUp(undefined, "drop");
}
