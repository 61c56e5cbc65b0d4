/** Facts that are seen by creating objects: pods that start under a policy, and policies of networks' own kinds. */
import { setTimeout as sleep } from "node:timers/promises";
import { apply, kubectl, nodePod, ready } from "../e2e/support";
import { addressOf, attempt, connections, namespace, under } from "./fact-pods";

const lateNames = ["late-1", "late-2", "late-3"];

/**
 * Whether pods that start under a default deny ever connect: `from its first packet`, or `after a while`. Each tries
 * from its first moment, every 10 ms for 2 s, and is ready afterwards.
 */
export async function startedUnderDeny(): Promise<string> {
    const to = `${await addressOf("client")}:8080`;
    const program = `${attempt}
        (async () => {
            const tries = [];
            for (const end = Date.now() + 2_000; Date.now() < end; await pause(10)) tries.push(attempt("${to}", 500));
            const ended = await Promise.all(tries);
            console.log(ended.filter((outcome) => outcome === "allowed").length);
            require("net").createServer().listen(8080);
        })();`;
    const late = lateNames.map((name) => {
        const pod = nodePod(name, program, { terminationGracePeriodSeconds: 1 }) as { metadata: { labels: object } };
        return { ...pod, metadata: { ...pod.metadata, labels: { app: "late" } } };
    });
    return under([{ on: "late", ways: ["Ingress", "Egress"] }], async () => {
        await apply(namespace, ...late);
        await ready(namespace, ...lateNames);
        const allowed = await Promise.all(lateNames.map((name) => kubectl(["-n", namespace, "logs", name])));
        await kubectl(["-n", namespace, "delete", "pod", "-l", "app=late", "--wait=false"]);
        return allowed.every((count) => count === "0") ? "from its first packet" : "after a while";
    });
}

/** Policies that deny connections into the pod `target`, of the kinds that networks define. */
const ownKinds = [
    {
        crd: "networkpolicies.crd.projectcalico.org",
        resource: {
            apiVersion: "crd.projectcalico.org/v1",
            kind: "NetworkPolicy",
            // As Calico stores it: with its tier, which is the default one, before the name.
            metadata: { name: "default.own" },
            spec: { selector: "app == 'target'", types: ["Ingress"] },
        },
    },
    {
        crd: "ciliumnetworkpolicies.cilium.io",
        resource: {
            apiVersion: "cilium.io/v2",
            kind: "CiliumNetworkPolicy",
            metadata: { name: "own" },
            spec: { endpointSelector: { matchLabels: { app: "target" } }, ingress: [{}] },
        },
    },
];

/** The API groups of the kinds that deny what they should, or `none`. */
export async function enforcedOwnPolicies(): Promise<string> {
    const defined = await kubectl(["get", "crd", "--output", "name"]);
    const enforced: string[] = [];
    for (const { crd, resource } of ownKinds.filter(({ crd }) => defined.includes(`/${crd}`))) {
        await apply(namespace, resource);
        await sleep(3_000);
        const [seen] = await connections("client", `${await addressOf("target")}:8080`);
        if (seen !== "allowed") enforced.push(resource.apiVersion.split("/")[0]!);
        await kubectl(["-n", namespace, "delete", crd, resource.metadata.name]);
    }
    return enforced.join(", ") || "none";
}
