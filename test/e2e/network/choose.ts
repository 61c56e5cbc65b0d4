import type { TestProject } from "vitest/node";
import { type DeniedTraffic, deniedTraffic } from "../../../sandbox/node/components/network-policy";
import { nodeLayout } from "../../../sandbox/node/layout";
import { sandboxUp } from "../../../sandbox/node/up";

declare module "vitest" {
    interface ProvidedContext {
        /** What the network does with traffic that a NetworkPolicy denies. */
        denied: DeniedTraffic;
    }
}

/** A global setup that chooses the sandbox's network. Afterwards it is as before. */
export function choose(denied: DeniedTraffic) {
    return async ({ provide }: TestProject): Promise<() => Promise<unknown>> => {
        provide("denied", denied);
        const before = deniedTraffic(nodeLayout());
        await sandboxUp(undefined, denied);
        return () => sandboxUp(undefined, before);
    };
}
