import { beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "../../../../chaos/cluster/client";
import type { StackCluster } from "../../../../components/cluster/cluster";
import type { StackConfiguration } from "../../../../components/configuration/read";
import { installShop } from "../../../../components/install/install";
import { runAs } from "../../../support/running-stack";

/** An update to a shop from a chart, in a namespace with these annotations and pods. */
const change = (annotations: Record<string, string>, pods: object[] = []) => {
    const get = async () => ({ metadata: { name: "demo", annotations } });
    const configuration = { namespace: "demo", storage: {}, install: { kind: "chart", chart: { repo: "nowhere:" } } };
    const api = { get, all: async () => pods } as unknown as Cluster;
    const context = { name: "kind-a", server: "https://127.0.0.1" };
    return installShop("shop", configuration as StackConfiguration, { api, context } as StackCluster);
};

beforeEach(() => runAs("local"));

describe("the way to install changes", () => {
    it("not in a namespace that is kept for its claims; the error says how to keep or delete them", async () => {
        const refused = change({ "chaos-shop/stack": "local", "chaos-shop/kept": "true" });
        await expect(refused).rejects.toThrow(
            "install cannot change from program to chart in namespace demo, which is kept for its claims. Nothing was",
        );
        await expect(refused).rejects.toThrow(
            "with their data: npx pulumi config set namespace demo-chart --stack local\n",
        );
        await expect(refused).rejects.toThrow(
            "npx pulumi config set install program --stack local && " +
                "npx pulumi config set storage.keep false --stack local && npx pulumi up --stack local && " +
                "kubectl --context kind-a annotate namespace demo chaos-shop/kept- && " +
                "npx pulumi config set install chart --stack local",
        );
    });

    it("not while an experiment runs", () =>
        expect(change({ "chaos-shop/stack": "local" }, [{}])).rejects.toThrow("while an experiment runs"));

    it("in any other namespace of the stack", () =>
        expect(change({ "chaos-shop/stack": "local" })).rejects.toThrow("chart.repo"));
});
