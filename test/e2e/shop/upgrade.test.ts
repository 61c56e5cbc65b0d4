import type { EngineEvent } from "@pulumi/pulumi/automation";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { leaseName } from "../../../chaos/lifecycle/lease";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { createAll, type EarlierObject, importEarlierState } from "./earlier-state";
import { type Change, quick, TestStack } from "./support";
import { until } from "../../support/until";

const namespace = "e2e-upgrade";
/** As the stack was configured. */
const configured = {
    ...quick,
    variant: "seven",
    "database.storage": "1Gi",
    "broker.storage": "1Gi",
    "experiment.name": "database-blackhole",
    "experiment.enabled": "true",
};
const target = "database-blackhole.blackhole";
/** What versions up to 0.2 called the objects of experiments. */
const earlier = {
    target: "chaos-shop/target",
    experiment: "chaos-shop/experiment",
    lease: "chaos-shop-experiment",
};

let stack: TestStack;
let uidsBefore: string;
let changes: Change[];
let verdict: unknown;
/** What was left of the attack when the first Deployment was changed. */
let tracesAtFirstUpdate: Promise<string[]> | undefined;

/** The uids of everything that holds data, addresses or pods. */
const uids = () =>
    kubectl([
        "--namespace",
        namespace,
        "get",
        "deployments,services,secrets,persistentvolumeclaims",
        "--output=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.uid}{'\\n'}{end}",
    ]);

/** The policies and labeled pods of an attack. */
async function attackTraces(): Promise<string[]> {
    const [policies, pods] = await Promise.all([
        stack.cluster.networking.listNamespacedNetworkPolicy({ namespace, labelSelector: earlier.experiment }),
        stack.cluster.core.listNamespacedPod({ namespace, labelSelector: earlier.target }),
    ]);
    return [...policies.items, ...pods.items].map(({ metadata }) => metadata!.name!);
}

/** Creates what the state says, and the rest of the run: the lease and the target's label. */
async function createShopUnderAttack(objects: readonly EarlierObject[]): Promise<void> {
    const ofShop = objects.filter(({ isOfExperiment }) => !isOfExperiment);
    await createAll(ofShop.filter(({ kind }) => kind === "Namespace"));
    await createAll(ofShop.filter(({ kind }) => !["Namespace", "Deployment"].includes(kind)));
    await createAll(ofShop.filter(({ kind }) => kind === "Deployment"));
    await until("/products is whole", async () => (await stack.products()).good, { timeoutMs: 120_000, pauseMs: 500 });

    const now = new Date().toISOString().replace("Z", "000Z");
    await kubectl(["create", "-f", "-"], {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: earlier.lease, namespace, annotations: { [earlier.experiment]: "database-blackhole" } },
        spec: {
            holderIdentity: `stack ${namespace} (its shop is in ${namespace})`,
            acquireTime: now,
            renewTime: now,
            leaseDurationSeconds: 780,
        },
    });
    await kubectl([
        "--namespace",
        namespace,
        "label",
        "pods",
        "--selector=app=database",
        `${earlier.target}=${target}`,
    ]);
    await createAll(objects.filter(({ isOfExperiment }) => isOfExperiment));
    await until("/products suffers", async () => !(await stack.products()).good);
}

function watchFirstUpdate({ resourcePreEvent }: EngineEvent): void {
    const { op, type } = resourcePreEvent?.metadata ?? {};
    if (op === "update" && type === "kubernetes:apps/v1:Deployment") tracesAtFirstUpdate ??= attackTraces();
}

beforeAll(async () => {
    stack = await TestStack.open(namespace);
    await createShopUnderAttack(await importEarlierState(namespace));
    uidsBefore = await uids();
    stack.onEvent = watchFirstUpdate;
    const update = await stack.up(configured);
    changes = update.changes;
    verdict = update.outputs.experiment!.value;
});
afterAll(() => stack.close());

/** Files in a ConfigMap, which has a hash of them in its name. */
const isFiles = ({ type, name }: Change) => type.endsWith(":ConfigMap") && /-[0-9a-f]{8}$/.test(name);
const isPolicy = ({ type }: Change) => /:NetworkPolic(?:y|ies)$/.test(type);
const opOf = ({ op }: Change) => op;
const isDeployment = ({ type }: Change) => type.endsWith(":Deployment");
/** Another run of the experiment has other parts. */
const isOfExperiment = ({ type, name }: Change) =>
    /^(experiment-)?(deadline|blackhole|steady-state|targets|end-attacks|check)/.test(name) ||
    type.endsWith(":Experiment");
/** What the state records of itself; the provider, which is told its cluster; the namespace, which says whose it is. */
const isOfState = ({ type }: Change) =>
    ["pulumi:index:Stash", "pulumi:providers:kubernetes", "kubernetes:core/v1:Namespace"].includes(type);
const ofShop = () => changes.filter((change) => !isOfExperiment(change) && !isOfState(change));

describe("an update of a stack of version 0.1 whose experiment is enabled", () => {
    it("replaces nothing of the shop: changed files get new ConfigMaps, Deployments are updated", async () => {
        const others = ofShop().filter((change) => !isFiles(change) && !isDeployment(change) && !isPolicy(change));
        expect(others).toEqual([]);
        expect(new Set(ofShop().filter(isFiles).map(opOf))).toEqual(new Set(["create", "delete"]));
        expect(new Set(ofShop().filter(isDeployment).map(opOf))).toEqual(new Set(["update"]));
        expect(await uids()).toBe(uidsBefore);
    });

    it("creates the shop's NetworkPolicies", () => {
        const workloads = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals", "database"];
        const all = ["shop", "shop-default-deny", ...workloads, "orders", "inventory", "message-broker"];
        expect(
            ofShop()
                .filter(isPolicy)
                .map(({ op, name }) => `${op} ${name}`)
                .sort(),
        ).toEqual(all.map((name) => `create ${name}`).sort());
    });

    it("records identity and cluster, and only updates the provider and the namespace's annotation", () => {
        expect(changes.filter(isOfState).map(({ op, name }) => `${op} ${name}`)).toEqual([
            "create identity",
            "create cluster",
            "update cluster",
            `update ${namespace}`,
        ]);
        const updated = changes.find(({ type }) => type === "kubernetes:core/v1:Namespace");
        expect(updated!.properties).toEqual([expect.stringContaining("chaos-shop/identity")]);
    });

    it("restarts the database and the broker once: they read their passwords from files now", () => {
        const changed = ofShop().filter(
            (change) => /^(?:database|message-broker)/.test(change.name) && !isFiles(change) && !isPolicy(change),
        );
        expect(changed.map(({ op, name }) => `${op} ${name}`).sort()).toEqual([
            "update database",
            "update message-broker",
        ]);
    });

    it("ends the old attack before it changes a Deployment, whose pods could not become ready under it", async () => {
        expect(await tracesAtFirstUpdate).toEqual([]);
        expect(stack.said).toContain("Ended the attacks of database-blackhole");
    });

    it("undoes the old run with the commands in its state, then runs the experiment again", async () => {
        expect(stack.said).toMatch(/Recovered: \/products/);
        expect(verdict).toMatchObject({ name: "database-blackhole", verdict: "FAILED" });
        const lease = await stack.cluster.coordination.readNamespacedLease({ name: leaseName, namespace });
        expect(lease.spec!.holderIdentity).toMatch(
            new RegExp(`^stack ${namespace}/[0-9a-f]{16} \\(its application is in ${namespace}\\)$`),
        );
    });

    it("leaves nothing of either run once the experiment is disabled", async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        expect((await stack.products()).good).toBe(true);
    });
});
