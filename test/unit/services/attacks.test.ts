import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../../chaos/cluster/labels";
import { readAttacks } from "../../../services/gateway/attacks";
import type { ListedPod } from "../../../services/gateway/pod-list";

/** A target of an attack of the experiment `shop`. */
const target = (name: string, attack: string, effect?: string): ListedPod => ({
    name,
    labels: { app: name.replace(/-\d+$/, ""), [labels.target]: `shop.${attack}` },
    annotations: { ...(effect && { [annotations.effect]: effect }) },
    isReady: true,
});

/** As the fault's resources make it. */
const proxy = (targets: readonly ListedPod[], isReady = true) => ({
    name: "run-fault",
    labels: { [labels.proxy]: "run-fault" },
    annotations: {
        [annotations.effect]: "slow by 2 s",
        [annotations.targets]: targets.map(({ name }) => name).join(","),
    } as Record<string, string>,
    isReady,
});

/** Reads the attacks on these pods, and notes what was listed. */
async function read(pods: readonly ListedPod[]) {
    const listed: string[] = [];
    const attacks = await readAttacks(async (label) => {
        listed.push(label);
        return pods.filter((pod) => label in pod.labels);
    }, AbortSignal.timeout(1_000));
    return { attacks, listed };
}
const one = target("hot-deals-1", "fault");

describe("the attacks on the shop", () => {
    it("are none without targets", async () => expect((await read([])).attacks).toEqual([]));

    it("are told by their targets, each with its workload and its pods", async () => {
        const pods = [
            target("hot-deals-2", "blackhole", "isolated"),
            target("hot-deals-1", "blackhole", "isolated"),
            target("orders-1", "kill-2", "killed repeatedly"),
        ];
        expect((await read(pods)).attacks).toEqual([
            { workload: "hot-deals", effect: "isolated", pods: ["hot-deals-1", "hot-deals-2"] },
            { workload: "orders", effect: "killed repeatedly", pods: ["orders-1"] },
        ]);
    });

    it("on a pod without the label app are named by the pod", async () => {
        const { labels: own, ...rest } = target("alone", "blackhole", "isolated");
        const { app: _, ...others } = own;
        expect((await read([{ ...rest, labels: others }])).attacks).toMatchObject([{ workload: "alone" }]);
    });
});

describe("a fault", () => {
    it("is told by its proxy", async () => {
        const { attacks } = await read([one, proxy([one])]);
        expect(attacks).toEqual([{ workload: "hot-deals", effect: "slow by 2 s", pods: ["hot-deals-1"] }]);
    });

    it("is not on before its proxy is ready, nor once that ends", async () => {
        expect((await read([one])).attacks).toEqual([]);
        expect((await read([one, proxy([one], false)])).attacks).toEqual([]);
    });

    it("is told of those targets alone that still have the label", async () => {
        const replaced = target("hot-deals-2", "fault");
        expect((await read([one, proxy([one, replaced])])).attacks).toMatchObject([{ pods: ["hot-deals-1"] }]);
    });

    it("costs a third list of pods; without one, there are two requests to the API server", async () => {
        expect((await read([target("hot-deals-1", "blackhole", "isolated")])).listed).toEqual([
            labels.target,
            labels.kills,
        ]);
        expect((await read([one, proxy([one])])).listed).toEqual([labels.target, labels.kills, labels.proxy]);
    });
});

describe("a kill", () => {
    const killer = (killed: string, isReady = true): ListedPod => ({
        name: "run-deadline-x",
        labels: { [labels.kills]: "true" },
        annotations: { [annotations.killed]: killed, [annotations.effect]: "killed repeatedly" },
        isReady,
    });
    const killed = JSON.stringify({
        "k8s.deployment=hot-deals": ["hot-deals-2"],
        "k8s.statefulset=orders": ["orders-0"],
    });

    it("is told of its target, and once that is gone, of the pods that were killed last", async () => {
        const first = target("hot-deals-1", "kill", "killed repeatedly");
        expect((await read([first])).attacks).toMatchObject([{ workload: "hot-deals", pods: ["hot-deals-1"] }]);
        expect((await read([killer(killed)])).attacks).toEqual([
            { workload: "hot-deals", effect: "killed repeatedly", pods: ["hot-deals-2"] },
            { workload: "orders", effect: "killed repeatedly", pods: ["orders-0"] },
        ]);
    });

    it("is over when the deadline Job has ended", async () =>
        expect((await read([killer(killed, false)])).attacks).toEqual([]));

    it("whose annotation cannot be read is not told", async () =>
        expect((await read([killer("{")])).attacks).toEqual([]));
});
