import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEnforcer, stopEnforcer } from "../support/enforcer";
import { abilities, choices } from "../../node/choices";
import { sandboxUp } from "../../node/up";
import { askFromPod, apply, createNamespace, eventually, kubectl, ready, webPod } from "./support";

const namespace = "sandbox-policy";
let removeNamespace: () => Promise<unknown>;
let url: string;
const before = choices();
const isKubeRouter = before.network === "kube-router";

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
    await apply(namespace, webPod("target"), webPod("client"), webPod("bystander"));
    await ready(namespace, "target", "client", "bystander");
    url = `http://${await kubectl(["-n", namespace, "get", "pod", "target", "-o", "jsonpath={.status.podIP}"])}:8080`;
    await eventually(ask, (body) => body === "target");
}, 180_000);

afterAll(async () => {
    if (isKubeRouter) await startEnforcer();
    await sandboxUp(before);
    await removeNamespace?.();
}, 90_000);

describe("the sandbox's NetworkPolicies", { timeout: 60_000 }, () => {
    it("isolate a pod in both directions within 2 s, and release it within 2 s", async () => {
        await apply(namespace, blackhole);
        expect(await eventually(ask, (body) => body !== "target")).toBeLessThan(2);
        const bystander = await kubectl(["-n", namespace, "get", "pod", "bystander", "-o", "jsonpath={.status.podIP}"]);
        expect(await askFromPod(namespace, "target", `http://${bystander}:8080`)).not.toBe("bystander");
        expect(await askFromPod(namespace, "client", `http://${bystander}:8080`)).toBe("bystander");
        await heal();
        expect(await eventually(ask, (body) => body === "target")).toBeLessThan(2);
    });

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

    const stopped = "are accepted but ignored while kube-router is stopped, and enforced again once it is back";
    const only = "only kube-router's rules can be removed";
    it.skipIf(!isKubeRouter)(isKubeRouter ? stopped : `${stopped} (skipped: ${only})`, async () => {
        await apply(namespace, blackhole);
        await eventually(ask, (body) => body !== "target");
        await stopEnforcer();
        expect(await ask()).toBe("target");
        await startEnforcer();
        await eventually(ask, (body) => body !== "target");
        await heal();
        await eventually(ask, (body) => body === "target");
    });
});
