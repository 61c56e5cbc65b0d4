import type { DeniedTraffic } from "../../sandbox/node/components/network-policy";
import { sandboxUp } from "../../sandbox/node/up";

export { startEnforcer, stopEnforcer } from "../../sandbox/test/support/enforcer";

const silent = { step: () => undefined, detail: () => undefined };

/** Has the sandbox drop or reject what a NetworkPolicy denies. Also starts whatever of it does not run. */
export async function setDenied(denied: DeniedTraffic): Promise<void> {
    await sandboxUp(silent, denied);
}
