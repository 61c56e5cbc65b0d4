/**
 * What this network does, where networks differ, is what docs/networks.md says. The page is the fixture: each `it`
 * measures a row of its table, and compares with the cell of the network that the sandbox has now.
 */
import { connect as connectTcp } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { choices } from "../../node/choices";
import { sandboxUp } from "../../node/up";
import {
    addressOf,
    connections,
    createFactPods,
    hostNamespace,
    hostPort,
    namespace,
    type Policy,
    under,
} from "../support/fact-pods";
import { enforcedOwnPolicies, startedUnderDeny } from "../support/fact-objects";
import { delays, established } from "../support/fact-times";
import { cellFor, networkFacts } from "../support/network-page";
import { apply, eventually, kubectl } from "./support";

const chosen = choices();
const facts = networkFacts();
const measured = new Set<string>();

let remove: () => Promise<unknown>;
let [client, target, stranger, node, service, nobody, loadBalancer] = [] as unknown as string[];
beforeAll(async () => {
    await sandboxUp();
    remove = await createFactPods();
    [client, target, stranger, node] = await Promise.all(["client", "target", "stranger", "host"].map(addressOf));
    const clusterIp = (name: string) =>
        kubectl(["-n", namespace, "get", "service", name, "-o", "jsonpath={.spec.clusterIP}"]);
    [service, nobody] = await Promise.all(["target", "nobody"].map(clusterIp));
    const external = ["get", "service", "target", "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}"];
    await eventually(async () => (loadBalancer = await kubectl(["-n", namespace, ...external])), Boolean);
}, 240_000);
afterAll(() => remove?.(), 120_000);

/** A row of the page, what it is about as a policy of this suite, and how it is measured. */
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

const denyIngress: Policy = { on: "target", ways: ["Ingress"] };
const denyEgress: Policy = { on: "client", ways: ["Egress"] };
const ingressFrom = (cidr: string, on = "target"): Policy => ({
    on,
    ways: ["Ingress"],
    ingress: [{ from: [{ ipBlock: { cidr } }] }],
});
const egressTo = (cidr: string): Policy => ({ ...denyEgress, egress: [{ to: [{ ipBlock: { cidr } }] }] });
const tried = async (from: string, ...to: string[]) => (await connections(from, ...to)).join(" ");
const matches = (outcome: string) => (outcome === "allowed" ? "matches" : "does not match");
/** Whether a rule allows what it names and nothing else. */
const works = async (from: string, wanted: Record<string, boolean>) => {
    const seen = await connections(from, ...Object.keys(wanted));
    const isRight = Object.values(wanted).every((allowed, index) => (seen[index] === "allowed") === allowed);
    return isRight ? "works" : seen.map((outcome, index) => `${Object.keys(wanted)[index]} ${outcome}`).join(", ");
};

/** Of the pod `target`: these are allowed, and no others. */
const ports = (...allowed: number[]) =>
    Object.fromEntries([8080, 8081, 8090].map((port) => [`${target}:${port}`, allowed.includes(port)]));

it("without a policy, all of them connect", async () => {
    const far = chosen.nodes === 1 ? [] : [`${await addressOf("far")}:8080`];
    const all = [`${target}:8080`, `${target}:8081`, `${target}:8090`, `${service}:80`, `${node}:${hostPort}`, ...far];
    const seen = await connections("client", ...all, "10.96.0.1:443");
    expect(seen).toEqual(seen.map(() => "allowed"));
    expect(await connections("host", `${target}:8080`, ...far)).not.toContain("time-out");
    await eventually(
        () => triedFromHere(loadBalancer!, 80),
        (outcome) => outcome === "allowed",
    );
});

describe(`with ${chosen.network}, as docs/networks.md says,`, { timeout: 90_000 }, () => {
    fact("denied by ingress", "a connection that the target's policy denies ends", () =>
        under([denyIngress], () => tried("client", `${target}:8080`)),
    );
    fact("denied by ingress, through a Service", "one through a Service ends", () =>
        under([denyIngress], () => tried("client", `${service}:80`)),
    );
    fact("denied by ingress, from outside by a LoadBalancer", "one from outside the cluster ends", () =>
        under([denyIngress], () => triedFromHere(loadBalancer!, 80)),
    );
    fact("denied by egress", "a connection that the caller's policy denies ends", () =>
        under([denyEgress], () => tried("client", `${target}:8080`)),
    );
    fact("denied by egress, to the API server's Service", "one to the API server ends", () =>
        under([denyEgress], () => tried("client", "10.96.0.1:443")),
    );
    fact("denied by egress, to the pod's own node", "one to the pod's own node ends", () =>
        under([denyEgress], () => tried("client", `${node}:${hostPort}`)),
    );
    fact("a Service without endpoints", "a connection to a Service without endpoints ends", () =>
        tried("client", `${nobody}:80`),
    );

    const open = once(established);
    fact(
        "established, then denied by ingress",
        "a policy treats open connections into its pods",
        async () => (await open()).ingress,
    );
    fact(
        "established, then denied by egress",
        "a policy treats open connections out of its pods",
        async () => (await open()).egress,
    );

    fact("`ipBlock` of a pod, in ingress", "a pod's address in an ipBlock allows its connections", () =>
        under([ingressFrom(`${client}/32`)], async () => {
            expect(await tried("stranger", `${target}:8080`)).not.toBe("allowed");
            return matches(await tried("client", `${target}:8080`));
        }),
    );
    fact("`ipBlock` of a pod, in egress", "a pod's address in an ipBlock allows connections to it", () =>
        under([egressTo(`${target}/32`)], async () => {
            expect(await tried("client", `${stranger}:8080`)).not.toBe("allowed");
            return matches(await tried("client", `${target}:8080`));
        }),
    );
    fact("`ipBlock` 0.0.0.0/0 and pods, in egress", "the block of all addresses contains pods", () =>
        under([egressTo("0.0.0.0/0")], async () => matches(await tried("client", `${target}:8080`))),
    );
    fact("`ipBlock` of a Service, in egress", "a Service's address in an ipBlock allows connections to it", () =>
        under([egressTo(`${service}/32`)], async () => matches(await tried("client", `${service}:80`))),
    );
    const ownNode = once(() => under([denyEgress], () => tried("client", `${node}:${hostPort}`)));
    const ofNode = async (policy: Policy) => {
        if ((await ownNode()) === "allowed") return "always allowed";
        return under([policy], async () => matches(await tried("client", `${node}:${hostPort}`)));
    };
    fact("`ipBlock` of the node, in egress", "a node's address in an ipBlock allows connections to it", () =>
        ofNode(egressTo(`${node}/32`)),
    );
    fact("`podSelector` of a hostNetwork pod, in egress", "a selector finds pods on the node's network", () =>
        ofNode({
            ...denyEgress,
            egress: [{ to: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: "host" } } }] }],
        }),
    );
    fact("a policy that selects a hostNetwork pod", "a policy for a pod on the node's network", async () => {
        const metadata = { name: "host", labels: { of: "fact" } };
        const spec = { podSelector: {}, policyTypes: ["Ingress"] };
        await apply(hostNamespace, { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec });
        const seen = await under([], () => tried("client", `${node}:${hostPort}`));
        await kubectl(["-n", hostNamespace, "delete", "networkpolicy", "host"]);
        return seen === "allowed" ? "no effect" : seen;
    });

    const web = [{ ports: [{ port: "web" }] }];
    fact("a named port, in ingress", "a rule for a named port allows that port only", () =>
        under([{ ...denyIngress, ingress: web }], () => works("client", ports(8080))),
    );
    fact("a named port, in egress", "a rule for a named port of others allows that port only", () =>
        under([{ ...denyEgress, egress: web }], () => works("client", ports(8080))),
    );
    const range = [{ ports: [{ port: 8080, endPort: 8081 }] }];
    fact("`endPort`, in ingress", "a range of ports allows these ports only", () =>
        under([{ ...denyIngress, ingress: range }], () => works("client", ports(8080, 8081))),
    );
    fact("`endPort`, in egress", "a range of others' ports allows these ports only", () =>
        under([{ ...denyEgress, egress: range }], () => works("client", ports(8080, 8081))),
    );

    fact("the kubelet's probes of a pod that is cut off", "a pod that is cut off stays ready", () =>
        under([{ on: "target", ways: ["Ingress", "Egress"] }], async () => {
            // Three probes fail before a pod is not ready: with their timeouts, in 4 s.
            await sleep(6_000);
            const ready = "jsonpath={.status.conditions[?(@.type=='Ready')].status}";
            return (await kubectl(["-n", namespace, "get", "pod", "target", "-o", ready])) === "True" ? "pass" : "fail";
        }),
    );
    fact("from its own node to a pod that is cut off", "the pod's node reaches a pod that is cut off", () =>
        under([denyIngress], () => tried("host", `${target}:8080`)),
    );
    const far = async () => `${await addressOf("far")}:8080`;
    const two = { nodes: 2 };
    const another = "from another node to a pod that is cut off";
    fact(
        another,
        "another node reaches a pod that is cut off",
        () => under([{ on: "far", ways: ["Ingress"] }], async () => tried("host", await far())),
        two,
    );
    // All addresses of the sandbox's nodes.
    fact(
        "`ipBlock` of another node, in ingress",
        "a node's addresses in an ipBlock allow its connections",
        () => under([ingressFrom("198.18.0.0/24", "far")], async () => matches(await tried("host", await far()))),
        two,
    );
    fact(
        "from a pod on another node, denied by ingress",
        "a pod on another node is denied",
        () => under([{ on: "far", ways: ["Ingress"] }], async () => tried("client", await far())),
        two,
    );

    const soon = once(delays);
    fact("a policy holds, after kubectl returns", "a new policy holds soon", async () => (await soon()).begins);
    fact(
        "a deleted policy is gone, after kubectl returns",
        "a deleted policy is gone soon",
        async () => (await soon()).ends,
    );
    fact("a pod that starts under a default deny is denied", "a starting pod is denied", startedUnderDeny);
    fact(
        "its own kinds of policies",
        "kinds of policies that are not Kubernetes' own are enforced",
        enforcedOwnPolicies,
    );
});

it("each row of docs/networks.md is measured", () => expect([...facts.keys()]).toEqual([...measured]));

const triedFromHere = (host: string, port: number) =>
    new Promise<string>((resolve) => {
        const socket = connectTcp({ host, port });
        const end = (outcome: string) => {
            socket.destroy();
            resolve(outcome);
        };
        socket.setTimeout(1_500, () => end("time-out")).on("connect", () => end("allowed"));
        socket.on("error", ({ code }: NodeJS.ErrnoException) => end(code === "ECONNREFUSED" ? "refused" : code!));
    });

/** What takes long and is measured once for several rows. */
function once<T>(measure: () => Promise<T>): () => Promise<T> {
    let result: Promise<T> | undefined;
    return () => (result ??= measure());
}
