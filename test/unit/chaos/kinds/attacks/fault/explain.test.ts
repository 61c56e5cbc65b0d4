import type { Resource } from "../../../../../../chaos/cluster/resources";
import { expect, it } from "vitest";
import { explainFault } from "../../../../../../chaos/kinds/attacks/fault/proof";
import type { Cluster } from "../../../../../../chaos/cluster/client";
import { labels } from "../../../../../../chaos/cluster/labels";

const proxy = "shop-fault";
const before = { app: "api", version: "v1" };
const pointed = { [labels.proxy]: proxy };
const attack = { namespace: "shop", object: proxy, chosen: { found: { service: "api", selector: before } } };

/** @param selector undefined: the Service is gone. @param phase undefined: the proxy is gone */
const explained = (
    selector: Record<string, string> | undefined,
    phase: string | undefined,
    metadata = {},
    status = {},
) => {
    const kubeconfig = { getCurrentContext: () => "kind-shop" };
    const service = selector && { spec: { selector } };
    const pod = phase === undefined ? undefined : { metadata, status: { phase, ...status } };
    const get = async ({ resource: { kind } }: { resource: Resource }) => (kind === "Pod" ? pod : service);
    return explainFault(attack as never, { get, kubeconfig } as unknown as Cluster, "shop-deadline");
};

it("a fault whose Service points to its running proxy is not explained by either", async () => {
    expect(await explained(pointed, "Running")).toBeUndefined();
});

it.each<[what: string, selector: Record<string, string> | undefined, phase: string | undefined, code: string]>([
    ["the Service is gone", undefined, "Running", "service-changed"],
    ["somebody wrote another selector", { app: "api", version: "v2" }, "Running", "service-changed"],
    ["somebody merged a label into the proxy's", { ...pointed, version: "v2" }, "Running", "service-changed"],
    ["somebody did, and the Job has ended the fault since", { ...before, version: "v2" }, undefined, "service-changed"],
    ["the proxy failed", pointed, "Failed", "proxy-failed"],
    ["the Job has ended the fault, for any reason", before, undefined, "attack-not-held"],
    ["somebody wrote the old selector", before, "Running", "service-changed"],
    ["the proxy is gone", pointed, undefined, "attack-not-held"],
])("if %s, that is the reason", async (_what, selector, phase, code) => {
    expect(await explained(selector, phase)).toMatchObject({ code });
});

it("if the Job is just ending the fault, and its proxy still serves requests, nobody is blamed", async () => {
    expect(await explained(before, "Running", { deletionTimestamp: new Date() })).toMatchObject({
        code: "attack-not-held",
    });
});

it("a proxy that has died and serves again was a gap: nobody knows what callers met meanwhile", async () => {
    const lastState = { terminated: { reason: "OOMKilled", exitCode: 137 } };
    const again = (restartCount: number) => ({ containerStatuses: [{ restartCount, lastState }] });
    expect(await explained(pointed, "Running", {}, again(0))).toBeUndefined();
    expect(await explained(pointed, "Running", {}, again(1))).toEqual({
        code: "proxy-failed",
        message:
            "the fault's proxy, pod shop-fault, was restarted once (OOMKilled, exit code 137); its callers got no " +
            "answer meanwhile",
    });
    expect((await explained(pointed, "Running", {}, again(3)))?.message).toContain("was restarted 3 times");
});
