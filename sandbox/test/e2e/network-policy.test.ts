import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { abilities, choices } from "../../node/choices";
import { sandboxUp } from "../../node/up";
import { askFromPod, apply, createNamespace, eventually, kubectl, ready, webPod } from "./support";

const namespace = "sandbox-policy";
let removeNamespace: () => Promise<unknown>;
let url: string;
const before = choices();

const blackhole = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "blackhole" },
    spec: { podSelector: { matchLabels: { app: "target" } }, policyTypes: ["Ingress", "Egress"] },
};
const ask = () => askFromPod(namespace, "client", url);
const heal = () => kubectl(["-n", namespace, "delete", "networkpolicy", "blackhole", "--ignore-not-found"]);

beforeAll(async () => {
    await sandboxUp();
    removeNamespace = await createNamespace(namespace);
    await apply(namespace, webPod("target"), webPod("client"));
    await ready(namespace, "target", "client");
    url = `http://${await kubectl(["-n", namespace, "get", "pod", "target", "-o", "jsonpath={.status.podIP}"])}:8080`;
    await eventually(ask, (body) => body === "target");
}, 180_000);

afterAll(async () => {
    await sandboxUp(before);
    await removeNamespace?.();
}, 90_000);

describe("the sandbox's NetworkPolicies", { timeout: 60_000 }, () => {
    const outcomes = [
        { denied: "drop", outcome: "TIMEOUT" } as const,
        { denied: "reject", outcome: "ECONNREFUSED" } as const,
    ].filter(({ denied }) => abilities[before.network].denied.includes(denied));
    const title = "$denied denied traffic with --denied $denied, also after a change of policies";
    it.each(outcomes)(title, async ({ denied, outcome }) => {
        await sandboxUp({ denied });
        await apply(namespace, blackhole);
        await eventually(ask, (answer) => answer !== "target");
        expect(await ask()).toBe(outcome);
        // Any change of a policy has kube-router make all rules again.
        await apply(namespace, { ...blackhole, metadata: { name: "other" } });
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        expect(await ask()).toBe(outcome);
        await kubectl(["-n", namespace, "delete", "networkpolicy", "other"]);
        await heal();
        await eventually(ask, (body) => body === "target");
    });
});
