import type { DeniedTraffic } from "../../sandbox/node/choices";
import { sandboxUp } from "../../sandbox/node/up";

export { startEnforcer, stopEnforcer } from "../../sandbox/test/support/enforcer";

/** Has the sandbox drop or reject traffic that a NetworkPolicy denies. Also starts the parts of it that do not run. */
export async function setDenied(denied: DeniedTraffic): Promise<void> {
    await sandboxUp({ denied });
}
