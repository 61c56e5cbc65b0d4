/**
 * What this network does, where networks differ, is what docs/networks.md says. The page is the fixture: each `it`
 * measures a row of its table, and compares with the cell of the network that the sandbox has now.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { choices } from "../../node/choices";
import { sandboxUp } from "../../node/up";
import { enforcedOwnPolicies, startedUnderDeny } from "../support/fact-objects";
import { connections, createFactPods } from "../support/fact-pods";
import * as situations from "../support/fact-situations";
import { delays, established } from "../support/fact-times";
import { cellFor, networkFacts } from "../support/network-page";
import { eventually } from "./support";

const chosen = choices();
const facts = networkFacts();
const measured = new Set<string>();

let remove: () => Promise<unknown>;
let places: situations.Places;
beforeAll(async () => {
    await sandboxUp();
    remove = await createFactPods();
    places = await situations.findPlaces();
}, 240_000);
afterAll(() => remove?.(), 120_000);

/** A row of the page, its meaning as a sentence, and how it is measured. */
function fact(row: string, title: string, measure: () => Promise<string | number>, { nodes = 1 } = {}): void {
    measured.add(row);
    it.skipIf(chosen.nodes < nodes)(`${title} (${row})`, async () => {
        const seen = await measure();
        const said = cellFor(facts, row, chosen);
        const most = /^within (\d+) ms$/.exec(said ?? "")?.[1];
        if (typeof seen === "number" && most !== undefined) expect(seen).toBeLessThanOrEqual(Number(most));
        else expect(said, `docs/networks.md, ${row}, ${chosen.network}`).toBe(String(seen));
    });
}

/** A fact that is seen together with others. */
function factOf<Seen>(
    situation: () => Promise<Seen>,
    name: keyof Seen,
    row: string,
    title: string,
    needs?: { nodes: number },
): void {
    fact(row, title, async () => (await situation())[name] as string | number, needs);
}

/** What is seen at once is measured once, by the first of its facts. */
function once<Seen>(look: () => Promise<Seen>): () => Promise<Seen> {
    let seen: Promise<Seen> | undefined;
    return () => (seen ??= look());
}

it("without a policy, everything connects", () =>
    eventually(
        async () => (await situations.unreachable(places, chosen.nodes)).join(", "),
        (failing) => failing === "",
    ));

describe(`with ${chosen.network}, as docs/networks.md says,`, { timeout: 90_000 }, () => {
    const cutOff = once(() => situations.cutOff(places));
    factOf(cutOff, "direct", "denied by ingress", "a connection that the target's policy denies ends");
    factOf(cutOff, "byService", "denied by ingress, through a Service", "it ends through a Service");
    const fromOutside = "denied by ingress, from outside by a LoadBalancer";
    factOf(cutOff, "fromOutside", fromOutside, "it ends from outside of the cluster");
    const silenced = once(() => situations.silenced(places));
    factOf(silenced, "toPod", "denied by egress", "a connection that the caller's policy denies ends");
    factOf(silenced, "toApiServer", "denied by egress, to the API server's Service", "it ends to the API server");
    factOf(silenced, "toNode", "denied by egress, to the pod's own node", "it ends to the pod's own node");
    fact("a Service without endpoints", "a connection to a Service without endpoints ends", async () =>
        (await connections("client", `${places.nobody}:80`)).join(),
    );

    const open = once(established);
    factOf(open, "ingress", "established, then denied by ingress", "open connections into a pod meet a new policy");
    factOf(open, "egress", "established, then denied by egress", "open connections out of a pod meet a new policy");

    const podBlocks = once(() => situations.podBlocks(places));
    factOf(podBlocks, "ingress", "`ipBlock` of a pod, in ingress", "a block allows connections from a pod in it");
    factOf(podBlocks, "egress", "`ipBlock` of a pod, in egress", "a block allows connections to a pod in it");
    const wideBlocks = once(() => situations.wideBlocks(places));
    factOf(wideBlocks, "everything", "`ipBlock` 0.0.0.0/0 and pods, in egress", "the block of all addresses has pods");
    factOf(wideBlocks, "service", "`ipBlock` of a Service, in egress", "a block allows connections to a Service in it");
    const nodePeers = once(async () => {
        if ((await silenced()).toNode !== "allowed") return situations.nodePeers(places);
        return { block: "always allowed", selector: "always allowed" };
    });
    factOf(nodePeers, "block", "`ipBlock` of the node, in egress", "a block allows connections to a node in it");
    const selector = "`podSelector` of a hostNetwork pod, in egress";
    factOf(nodePeers, "selector", selector, "a selector finds pods on the node's network");
    fact("a policy that selects a hostNetwork pod", "a policy applies to pods on the node's network", () =>
        situations.hostSelected(places),
    );

    const named = once(() => situations.onlyPorts(places, [{ port: "web" }], [8080]));
    factOf(named, "ingress", "a named port, in ingress", "a rule for a port by its name allows no other");
    factOf(named, "egress", "a named port, in egress", "a rule for others' ports by name allows no other");
    const range = once(() => situations.onlyPorts(places, [{ port: 8080, endPort: 8081 }], [8080, 8081]));
    factOf(range, "ingress", "`endPort`, in ingress", "a rule for a range of ports allows no other");
    factOf(range, "egress", "`endPort`, in egress", "a rule for a range of others' ports allows no other");

    factOf(cutOff, "probes", "the kubelet's probes of a pod that is cut off", "a pod that is cut off stays ready");
    factOf(cutOff, "fromNode", "from its own node to a pod that is cut off", "its node reaches a pod that is cut off");
    const [farAway, two] = [once(situations.farAway), { nodes: 2 }];
    factOf(farAway, "node", "from another node to a pod that is cut off", "other nodes are denied, too", two);
    factOf(farAway, "block", "`ipBlock` of another node, in ingress", "a block allows connections of a node", two);
    factOf(farAway, "pod", "from a pod on another node, denied by ingress", "pods on other nodes are denied", two);

    const soon = once(delays);
    factOf(soon, "begins", "a policy holds, after kubectl returns", "a new policy holds soon");
    factOf(soon, "ends", "a deleted policy is gone, after kubectl returns", "a deleted policy is gone soon");
    fact("a pod that starts under a default deny is denied", "a starting pod is denied", startedUnderDeny);
    fact(
        "its own kinds of policies",
        "policies that are not of Kubernetes' own kind are enforced",
        enforcedOwnPolicies,
    );
});

it("each row of docs/networks.md is measured", () => expect([...facts.keys()]).toEqual([...measured]));
