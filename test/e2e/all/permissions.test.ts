import { KubeConfig } from "@kubernetes/client-node";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump, loadAll } from "js-yaml";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/on-cluster";
import { project } from "../../../cli/stack-file";
import { locateParts } from "../../../sandbox/parts/locate";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";

/** Namespace of the account. */
const home = "e2e-permissions-person";
const user = `system:serviceaccount:${home}:person`;
const kubectlProgram = join(locateParts().kubectlFolder, "kubectl");
const folder = mkdtempSync(join(tmpdir(), "chaos-shop-person-"));
const kubeconfig = join(folder, "config");

interface Role {
    kind: string;
    metadata: { name: string };
    rules?: { resources: string[]; verbs: string[] }[];
}

let stack: TestStack;
let admins: string | undefined;
beforeAll(async () => {
    stack = await sharedStack();
    admins = process.env.KUBECONFIG;
    const { core } = stack.cluster;
    await removeNamespaces(stack.cluster, [home]);
    await core.createNamespace({ body: { metadata: { name: home } } });
    await core.createNamespacedServiceAccount({ namespace: home, body: { metadata: { name: "person" } } });
    const { status } = await core.createNamespacedServiceAccountToken({
        namespace: home,
        name: "person",
        body: { spec: { audiences: [], expirationSeconds: 7_200 } },
    });
    const config = new KubeConfig();
    config.loadFromFile(admins!);
    const context = config.getContextObject(config.getCurrentContext())!;
    config.users = [{ name: context.user, token: status!.token }];
    writeFileSync(kubeconfig, config.exportConfig(), { mode: 0o600 });
});
afterAll(async () => {
    takeAllRoles();
    await stack.cluster.core.deleteNamespace({ name: home });
    await giveBack(stack);
    rmSync(folder, { recursive: true });
});
beforeEach(() => void (process.env.KUBECONFIG = kubeconfig));
afterEach(() => void (process.env.KUBECONFIG = admins));

const clusterRoles: string[] = [];

/** What kubectl prints, as the administrator. */
function kubectl(input: string, ...args: string[]): string {
    return execFileSync(kubectlProgram, ["--kubeconfig", admins!, ...args], { input, encoding: "utf8" });
}

function takeAllRoles(): void {
    for (const kind of ["role", "rolebinding"]) {
        const own = kubectl("", "get", kind, "--namespace", namespace, "--output", "name")
            .split("\n")
            .filter((name) => name.includes("/chaos-shop-"));
        if (own.length > 0) kubectl("", "delete", "--namespace", namespace, ...own);
    }
    const names = clusterRoles.splice(0);
    if (names.length === 0) return;
    for (const kind of ["clusterrolebinding", "clusterrole"])
        kubectl("", "delete", kind, "--ignore-not-found", ...names);
}

/** What `npm run render -- --permissions` prints for this shop. */
function printed(...args: string[]): Role[] {
    const command = ["--import", "tsx", "cli/render.ts", "--permissions", "--subject", user];
    const place = ["--set", `namespace=${namespace}`, "--set", "agent.enabled=false"];
    const text = execFileSync(process.execPath, [...command, ...place, ...args], { cwd: project, encoding: "utf8" });
    return loadAll(text) as Role[];
}

/** Gives the account exactly these roles. */
function give(roles: readonly Role[]): void {
    takeAllRoles();
    kubectl(roles.map((role) => dump(role)).join("---\n"), "apply", "--filename", "-");
    clusterRoles.push(...roles.filter(({ kind }) => kind === "ClusterRole").map(({ metadata }) => metadata.name));
}

const isRule = ({ verbs }: { verbs: string[] }) => verbs.length > 0;
const required = (roles: readonly Role[]) => roles.filter(({ metadata }) => !metadata.name.endsWith("-optional"));
const definite = ["PASSED", "FAILED"];
const short = { ...quick, "experiment.enabled": "true" };
const conclusionOf = (settings: Record<string, string>) => stack.run({ ...short, ...settings });

describe("a person with exactly the printed roles", () => {
    it("runs an experiment to a definite verdict, and undoes it", async () => {
        const name = "hot-deals-without-database";
        give(printed(name));
        expect(definite).toContain((await conclusionOf({ "experiment.name": name })).verdict);
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
    });

    // What only these kinds need: to run commands in targets, to change their pods, and to have a pod of their own.
    it.each([
        ["stress", "hot-deals-busy"],
        ["fail", "hot-deals-fails"],
        ["load", "hot-deals-kill-under-load"],
    ])("needs no optional role for a %s, as in %s, and leaves nothing", async (_kind, name) => {
        give(required(printed(name)));
        // A load is counted by whole seconds, of which some do not count.
        const { verdict, reason } = await conclusionOf({ "experiment.name": name, "experiment.duration": "8s" });
        expect(definite, reason).toContain(verdict);
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
    });

    it("needs no optional role, not even to start the next run, before which Pulumi deletes the last one", async () => {
        give(required(printed("departments-scaled-in-time")));
        const run = { "experiment.name": "departments-scaled-in-time", "experiment.grace": "3s" };
        for (const one of ["first", "second"])
            expect(definite).toContain((await conclusionOf({ ...run, "experiment.run": one })).verdict);
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
    });
});

describe("a person who lacks a required right", () => {
    const cases: [resource: string, verb: string, right: string][] = [
        ["networkpolicies", "watch", "watch networkpolicies.networking.k8s.io"],
        ["pods/exec", "create", "create pods/exec"],
        ["replicasets", "list", "list replicasets.apps"],
    ];

    it.each(cases)("%s %s is told so before anything is attacked", async (resource, verb, right) => {
        const roles = printed("hot-deals-blackhole");
        for (const { rules = [] } of required(roles))
            for (const rule of rules)
                if (rule.resources.includes(resource)) rule.verbs = rule.verbs.filter((one) => one !== verb);
        give(roles.map((role) => (role.rules ? { ...role, rules: role.rules.filter(isRule) } : role)));
        const settings = {
            ...short,
            "experiment.name": "hot-deals-blackhole",
            "experiment.run": `${resource} ${verb}`,
        };
        const error = await stack.failingUp(settings);
        expect(error).toContain(
            "ABORTED (missing-right): the account lacks rights that the experiment needs: " +
                `${right} in namespace ${namespace}.`,
        );
        expect(error).toContain("npm run -s render -- --permissions hot-deals-blackhole");
        expect(await stack.traces()).toEqual([]);
        process.env.KUBECONFIG = admins;
        await stack.toDefaults();
    });
});
