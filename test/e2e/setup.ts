import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { removeNamespaces } from "../../bench/on-cluster";
import { type TypedCluster as Cluster, connect } from "../support/typed-cluster";
import { type Choices, choices } from "../../sandbox/node/choices";
import { sandboxUp } from "../../sandbox/node/up";
import { kubectl } from "../../sandbox/test/e2e/support";
import { uncordonAll } from "../support/placement";
import { sharedFolder } from "./shop/shared";
import { temporaryPrefix } from "./shop/support";

declare module "vitest" {
    interface ProvidedContext {
        /** Whether only what depends on the network is tested: the rest is, on another one. */
        onlyNetwork: boolean;
        /** Whether everything is tested, as `npm run test:all` does, with all rounds. */
        all: boolean;
    }
}

/**
 * A global setup that chooses the sandbox's network and removes what a killed run has left. Afterwards the network is
 * as before, and the shared shops are gone.
 *
 * @param wanted the rest stays as it is
 */
export function setUp(wanted: Partial<Choices>, { onlyNetwork = false } = {}) {
    return async ({ provide }: TestProject): Promise<() => Promise<unknown>> => {
        provide("onlyNetwork", onlyNetwork);
        const before = choices();
        const { kubeconfig, context } = await sandboxUp(wanted);
        process.env.KUBECONFIG = kubeconfig;
        const cluster = connect({ context });
        takeTurn();
        await removeLeftovers(cluster);
        return async () => {
            await removeShared(cluster);
            rmSync(turn, { force: true });
            return sandboxUp(before);
        };
    };
}

/** Names the process that runs these tests: a second one would remove its namespaces. */
const turn = join(tmpdir(), "chaos-shop-e2e.pid");

/** @throws Error if end-to-end tests run already */
function takeTurn(): void {
    const pid = existsSync(turn) ? readFileSync(turn, "utf8") : undefined;
    if (pid !== undefined && pid !== String(process.pid) && existsSync(`/proc/${pid}`))
        throw new Error(`other end-to-end tests run already, as process ${pid}; wait for them`);
    writeFileSync(turn, String(process.pid));
}

async function removeLeftovers(cluster: Cluster): Promise<void> {
    await uncordonAll();
    rmSync(sharedFolder, { recursive: true, force: true });
    for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(temporaryPrefix)))
        rmSync(join(tmpdir(), name), { recursive: true, force: true });
    await removeNamespaces(
        cluster,
        (await namespaces(cluster)).filter((name) => name.startsWith("e2e-")),
    );
    const kinds = "clusterrolebindings,clusterroles,validatingadmissionpolicybindings,validatingadmissionpolicies";
    const names = (await kubectl(["get", kinds, "--output", "name"])).split("\n").filter((name) => /e2e-/.test(name));
    if (names.length > 0) await kubectl(["delete", "--ignore-not-found", ...names]);
}

/** Does not wait: the next run's setup does. */
async function removeShared(cluster: Cluster): Promise<void> {
    const shared = (await namespaces(cluster)).filter((name) => name.startsWith("e2e-shop-"));
    await Promise.all(shared.map((name) => cluster.core.deleteNamespace({ name })));
    rmSync(sharedFolder, { recursive: true, force: true });
}

async function namespaces({ core }: Cluster): Promise<string[]> {
    return (await core.listNamespace()).items.map(({ metadata }) => metadata!.name!);
}
