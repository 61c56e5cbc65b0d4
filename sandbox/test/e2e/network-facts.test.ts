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
import { delays, established, labelDelay } from "../support/fact-times";
import { cellFor, networkTable } from "../support/network-page";
import { eventually } from "./support";

const chosen = choices();
const table = networkTable();
const measured = new Set<string>();

let remove: () => Promise<unknown>;
let addresses: situations.Addresses;
beforeAll(async () => {
    await sandboxUp();
    remove = await createFactPods();
    addresses = await situations.findAddresses();
}, 240_000);
afterAll(() => remove?.(), 120_000);

/** A row of the page, and how it is measured. */
function fact(row: string, measure: () => Promise<string | number>, { nodes = 1 } = {}): void {
    measured.add(row);
    it.skipIf(chosen.nodes < nodes)(`${row}: as docs/networks.md says`, async () => {
        const seen = await measure();
        const said = cellFor(table, row, chosen);
        const most = /^within (\d+) (ms|s)$/.exec(said);
        if (typeof seen === "number" && most)
            expect(seen).toBeLessThanOrEqual(Number(most[1]) * (most[2] === "s" ? 1_000 : 1));
        else expect(said, `docs/networks.md, ${row}, ${chosen.network}`).toBe(String(seen));
    });
}

/** A fact that is seen together with others. */
function factOf<Name extends string>(
    row: string,
    situation: () => Promise<Record<Name, string | number>>,
    name: NoInfer<Name>,
    needs?: { nodes: number },
): void {
    fact(row, async () => (await situation())[name], needs);
}

/** What is seen at once is measured once, by the first of its facts. */
function once<Seen>(look: () => Promise<Seen>): () => Promise<Seen> {
    let seen: Promise<Seen> | undefined;
    return () => (seen ??= look());
}

it("without a policy, everything connects", () =>
    eventually(
        async () => (await situations.unreachable(addresses, chosen.nodes)).join(", "),
        (failing) => failing === "",
    ));

describe(`with ${chosen.network}`, { timeout: 150_000 }, () => {
    const cutOff = once(() => situations.cutOff(addresses));
    factOf("denied by ingress", cutOff, "direct");
    factOf("denied by ingress, through a Service", cutOff, "byService");
    factOf("denied by ingress, from outside by a LoadBalancer", cutOff, "fromOutside");
    const silenced = once(() => situations.silenced(addresses));
    factOf("denied by egress", silenced, "toPod");
    factOf("denied by egress, to the API server's Service", silenced, "toApiServer");
    factOf("denied by egress, to the pod's own node", silenced, "toNode");
    fact("a Service without endpoints", async () => (await connections("client", `${addresses.nobody}:80`))[0]);

    const open = once(established);
    factOf("established, then denied by ingress", open, "ingress");
    factOf("established, then denied by egress", open, "egress");

    const podBlocks = once(() => situations.podBlocks(addresses));
    factOf("`ipBlock` of a pod, in ingress", podBlocks, "ingress");
    factOf("`ipBlock` of a pod, in egress", podBlocks, "egress");
    const wideBlocks = once(() => situations.wideBlocks(addresses));
    factOf("`ipBlock` 0.0.0.0/0 and pods, in egress", wideBlocks, "everything");
    factOf("`ipBlock` of a Service, in egress", wideBlocks, "service");
    const nodePeers = once(async () => {
        if ((await silenced()).toNode !== "allowed") return situations.nodePeers(addresses);
        return { block: "always allowed", selector: "always allowed" };
    });
    factOf("`ipBlock` of the node, in egress", nodePeers, "block");
    factOf("`podSelector` of a hostNetwork pod, in egress", nodePeers, "selector");
    fact("a policy that selects a hostNetwork pod", () => situations.hostSelected(addresses));

    const named = once(() => situations.onlyPorts(addresses, [{ port: "web" }], [8080]));
    factOf("a named port, in ingress", named, "ingress");
    factOf("a named port, in egress", named, "egress");
    const range = once(() => situations.onlyPorts(addresses, [{ port: 8080, endPort: 8081 }], [8080, 8081]));
    factOf("`endPort`, in ingress", range, "ingress");
    factOf("`endPort`, in egress", range, "egress");

    factOf("the kubelet's probes of a pod that is cut off", cutOff, "probes");
    factOf("from its own node to a pod that is cut off", cutOff, "fromNode");
    const [farAway, two] = [once(situations.farAway), { nodes: 2 }];
    factOf("from another node to a pod that is cut off", farAway, "node", two);
    factOf("`ipBlock` of another node, in ingress", farAway, "block", two);
    factOf("from a pod on another node, denied by ingress", farAway, "pod", two);

    const soon = once(delays);
    factOf("a policy holds, after kubectl returns", soon, "begins");
    factOf("a deleted policy is gone, after kubectl returns", soon, "ends");
    fact("a policy for a pod's new label holds", labelDelay);
    fact("a pod that starts under a default deny is denied", startedUnderDeny);
    fact("its own kinds of policies", enforcedOwnPolicies);
});

it("each row of docs/networks.md is measured", () => expect([...table.facts.keys()]).toEqual([...measured]));
