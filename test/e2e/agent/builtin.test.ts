import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { scale } from "../../../cli/shop";
import { askAgents, findAgents } from "../../../chaos/targets/agents";
import { containersByApiServer, discover } from "../../../chaos/targets/discover";
import type { Discovered } from "../../../chaos/targets/containers";
import { choices } from "../../../sandbox/node/choices";
import { quick, TestStack } from "../shop/support";
import { runProgram } from "../../support/run-program";
import { until } from "../../support/until";
import { itInAll, itOnce } from "../which-tests";
import { everywhere, SecretWatch } from "./secrets";

const namespace = "e2e-agent";
const agentNamespace = "e2e-agent-agent";
/** Each has an agent. */
const { nodes } = choices();
let stack: TestStack;
let secrets: SecretWatch;
let key = randomBytes(24).toString("hex");

beforeAll(async () => {
    // As in the story.
    stack = await TestStack.open(namespace, { inline: inject("onlyNetwork") });
    secrets = new SecretWatch(stack, [namespace, agentNamespace]);
    secrets.add(key);
    await stack.setSecret("agent.key", key);
});
afterEach(() => secrets.lookAround());
afterAll(async () => {
    secrets.end();
    await stack.close();
});

const agent = { namespace: agentNamespace, name: "agent" };
const agents = async () => (await findAgents(stack.cluster, agent))!;
const listed = async (shown?: string) => askAgents(stack.cluster, await agents(), shown);
/** Of other tests' containers, some come and go. */
const ofShop = (discovered: readonly Discovered[]) =>
    discovered.filter((container) => container.namespace === namespace).sort((a, b) => a.uid.localeCompare(b.uid));

async function targets(args: string[], env: Record<string, string> = {}): ReturnType<typeof runProgram> {
    const ran = await runProgram("targets", [...args, "--namespace", namespace], { ...process.env, ...env });
    secrets.look("outputs", ran.stdout + ran.stderr);
    return ran;
}

it("one update installs a shop and its agent; the output has the agent's namespace, but not its key", async () => {
    const { outputs } = await stack.up({
        "agent.enabled": "true",
        "cluster.name": "e2e-cluster",
        "agent.timeout": "1m",
    });
    expect(outputs.agent!.value).toEqual({
        install: "builtin",
        namespace: agentNamespace,
        ready: `${nodes} of ${nodes}`,
    });
    secrets.look("outputs", JSON.stringify(outputs));
    // What was drawn for the shop must show no more than the key.
    for (const password of await stack.databasePasswords()) secrets.add(password);
});

itOnce("an update with refresh changes nothing", async () => {
    expect((await stack.refresh()).changes).toEqual([]);
});

it("the agent lists the same containers as the API server", async () => {
    const [seen, asked] = [await listed(), await containersByApiServer(stack.cluster, "e2e-cluster")];
    expect(ofShop(seen)).toEqual(ofShop(asked));
    expect(ofShop(seen)).toHaveLength(5);
    expect(ofShop(seen).find(({ container }) => container === "hot-deals")!.attributes).toMatchObject({
        "k8s.cluster-name": "e2e-cluster",
        "k8s.namespace": namespace,
        "k8s.deployment": "hot-deals",
        "k8s.container.name": "hot-deals",
        "container.image": expect.stringContaining("node:"),
        "container.id": expect.stringMatching(/^containerd:\/\//),
        "host.hostname": expect.any(String),
        "k8s.label.app": "hot-deals",
    });
});

it("an experiment is never offered the agent's own containers", async () => {
    const offered = await discover(stack.cluster, {
        area: "Global",
        clusterName: "e2e-cluster",
        agent,
    });
    expect(offered.filter((container) => container.namespace === agentNamespace)).toEqual([]);
    expect(ofShop(offered)).toHaveLength(5);
});

it("a new pod is listed, and a deleted pod is dropped", async () => {
    const hotDeals = async () => ofShop(await listed()).filter(({ container }) => container === "hot-deals").length;
    await scale(stack.cluster, namespace, "hot-deals", 3);
    expect(await hotDeals()).toBe(3);
    await scale(stack.cluster, namespace, "hot-deals", 1);
    await until("those that went are dropped", async () => (await hotDeals()) === 1, { timeoutMs: 15_000 });
});

it("a restarted agent lists the same containers", async () => {
    const before = ofShop(await listed());
    const pods = () => stack.cluster.core.listNamespacedPod({ namespace: agentNamespace });
    const [pod] = (await pods()).items;
    await stack.cluster.core.deleteNamespacedPod({ name: pod!.metadata!.name!, namespace: agentNamespace });
    await until(
        "another agent answers",
        async () =>
            (await pods()).items.every(({ metadata }) => metadata!.uid !== pod!.metadata!.uid) &&
            listed().then(
                () => true,
                () => false,
            ),
    );
    expect(ofShop(await listed())).toEqual(before);
});

itOnce("`npm run targets` lists containers by attributes, as a table and as JSON", async () => {
    const table = await targets([`k8s.namespace=${namespace}`, "k8s.deployment=hot-*"]);
    expect(table.stdout).toMatch(/NAMESPACE +OWNER +POD.*\n.*k8s\.deployment=hot-deals.*\n1 container$/m);
    const json = await targets(["--json", `k8s.namespace=${namespace}`]);
    expect(ofShop(JSON.parse(json.stdout) as Discovered[])).toEqual(ofShop(await listed()));
});

itOnce("`npm run targets` says so if the key is wrong", async () => {
    const refused = await targets([], { AGENT_KEY: "not-the-key" });
    expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/agent e2e-agent-agent\/\S+ rejects the key; allowed: the stack's agent\.key/),
    });
    expect(refused.stderr).not.toContain("not-the-key");
});

itInAll("rotating the key is a stack update that runs no experiment again", async () => {
    await stack.up({ ...quick, "experiment.duration": "1s", "experiment.grace": "1s", "experiment.enabled": "true" });
    const old = key;
    key = randomBytes(24).toString("hex");
    secrets.add(key);
    await stack.setSecret("agent.key", key);
    const preview = await stack.preview();
    expect(preview.map(({ name }) => name)).not.toContain("experiment-check");
    const { changes } = await stack.up();
    expect(changes.filter(({ type }) => type === "command:local:Command")).toEqual([]);
    await expect(listed(old)).rejects.toThrow(/rejects the key/);
    expect(ofShop(await listed(key))).toHaveLength(5);
    await stack.up({ "experiment.enabled": "false" });
});

it("destroying the stack leaves nothing of the agent, and no key was ever visible", async () => {
    await stack.destroy();
    expect(await findAgents(stack.cluster, agent)).toBeUndefined();
    expect(secrets.end()).toEqual({ showed: [], looked: everywhere });
});
