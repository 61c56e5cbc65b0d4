import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeNamespaces } from "../../../bench/on-cluster";
import { annotations } from "../../../chaos/cluster/labels";
import { project } from "../../../cli/stack-file";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { until } from "../../support/until";
import { TestStack } from "./support";

/** Where the shared shops' backends are: also what a killed run has left. */
export const sharedFolder = join(project, "node_modules", ".cache", "chaos-shop", "e2e");

/** The namespace of this worker's shop. */
export const sharedNamespace = `e2e-shop-${process.env.VITEST_POOL_ID}`;

/** What the shop was made of when it was installed. Without it, the next file installs another. */
const record = join(sharedFolder, sharedNamespace, "installed.json");

/**
 * The shop of this worker of vitest, which the files that it runs share. The first one installs it; each gives it back
 * as it was installed, with {@link giveBack}.
 */
export async function sharedStack(): Promise<TestStack> {
    const backend = join(sharedFolder, sharedNamespace);
    const isInstalled = existsSync(record);
    if (!isInstalled) rmSync(backend, { recursive: true, force: true });
    mkdirSync(backend, { recursive: true });
    const stack = await TestStack.openIn(backend, sharedNamespace);
    if (isInstalled) return stack;
    await removeNamespaces(stack.cluster, [sharedNamespace]);
    await stack.up();
    await until("the shop is whole", async () => (await stack.products()).good);
    writeFileSync(record, JSON.stringify(await contentsOf(sharedNamespace)));
    return stack;
}

/** Leaves the shop to the next file. @throws Error if it is not as it was installed */
export async function giveBack(stack: TestStack | undefined): Promise<void> {
    if (stack === undefined) return;
    try {
        await reset(stack);
    } catch (error) {
        rmSync(record, { force: true });
        throw error;
    } finally {
        stack.forget();
    }
}

/** Takes back all settings, and waits until the shop is as it was installed. @throws Error with what differs */
async function reset(stack: TestStack): Promise<void> {
    await stack.toDefaults();
    const installed = JSON.parse(readFileSync(record, "utf8")) as string[];
    let differences: string[] = [];
    const isAsInstalled = async () => {
        differences = differencesOf(installed, await contentsOf(stack.namespace));
        return differences.length === 0;
    };
    await until("the shop is as it was installed", isAsInstalled, { pauseMs: 500 }).catch(() => {
        throw new Error(`these tests leave the shop ${stack.namespace} changed: ${differences.join("; ")}`);
    });
    await until("/products is whole", async () => (await stack.products()).good);
}

function differencesOf(installed: readonly string[], now: readonly string[]): string[] {
    const missing = [...installed];
    const added = now.filter((line) => {
        const at = missing.indexOf(line);
        if (at >= 0) missing.splice(at, 1);
        return at < 0;
    });
    return [...added.map((line) => `there is ${line}`), ...missing.map((line) => `there is no ${line}`)];
}

const kinds = [
    ...["pods", "deployments", "jobs", "services", "configmaps", "secrets", "persistentvolumeclaims", "leases"],
    ...["serviceaccounts", "roles", "rolebindings", "networkpolicies", "ingresses", "poddisruptionbudgets"],
    "limitranges",
];

/** A line for each object of a namespace, with what tests and experiments change of it. */
async function contentsOf(namespace: string): Promise<string[]> {
    const printed = await kubectl(["--namespace", namespace, "get", kinds.join(","), "--output", "json"]);
    return (JSON.parse(printed) as { items: any[] }).items.map(describeObject).sort();
}

function describeObject({ kind, metadata, spec, status }: any): string {
    // That a workload was restarted stays in its pods, as after `kubectl rollout restart`.
    const ofExperiments = Object.entries({ ...metadata.labels, ...metadata.annotations })
        .filter(([key]) => key.startsWith("chaos-experiments/") && key !== annotations.restarted)
        .map(([key, value]) => `${key}=${String(value)}`);
    const about = [...ofExperiments, ...(metadata.deletionTimestamp === undefined ? [] : ["is ending"])];
    switch (kind) {
        case "Pod": {
            const isReady = status.conditions?.some(({ type, status }: any) => type === "Ready" && status === "True");
            return [`Pod of ${metadata.labels?.app}`, isReady ? "ready" : "not ready", ...about].join(", ");
        }
        case "Deployment":
            return [`Deployment ${metadata.name}`, `replicas ${spec.replicas}`, ...about].join(", ");
        case "Service":
            return [`Service ${metadata.name}`, spec.type, JSON.stringify(spec.selector), ...about].join(", ");
        case "NetworkPolicy":
            return [`NetworkPolicy ${metadata.name}`, JSON.stringify(spec.podSelector), ...about].join(", ");
        default:
            return [`${kind} ${metadata.name}`, ...about].join(", ");
    }
}
