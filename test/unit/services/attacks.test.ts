import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../../chaos/cluster/labels";
import { attacksOn } from "../../../services/gateway/attacks";
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

const one = target("hot-deals-1", "fault");

describe("the attacks on the shop", () => {
    it("are none without targets", () => expect(attacksOn([])).toEqual([]));

    it("are told by their targets, each with its workload and its pods", () => {
        const pods = [
            target("hot-deals-2", "blackhole", "isolated"),
            target("hot-deals-1", "blackhole", "isolated"),
            target("orders-1", "kill-2", "killed repeatedly"),
        ];
        expect(attacksOn(pods)).toEqual([
            { workload: "hot-deals", effect: "isolated", pods: ["hot-deals-1", "hot-deals-2"] },
            { workload: "orders", effect: "killed repeatedly", pods: ["orders-1"] },
        ]);
    });

    it("on a pod without the label app are named by the pod", () => {
        const { labels: own, ...rest } = target("alone", "blackhole", "isolated");
        const { app: _, ...others } = own;
        expect(attacksOn([{ ...rest, labels: others }])).toMatchObject([{ workload: "alone" }]);
    });
});

describe("a fault", () => {
    it("is told by its proxy", () => {
        expect(attacksOn([one, proxy([one])])).toEqual([
            { workload: "hot-deals", effect: "slow by 2 s", pods: ["hot-deals-1"] },
        ]);
    });

    it("is not on before its proxy is ready, nor once that ends", () => {
        expect(attacksOn([one])).toEqual([]);
        expect(attacksOn([one, proxy([one], false)])).toEqual([]);
    });

    it("is told of those targets alone that still have the label", () => {
        const replaced = target("hot-deals-2", "fault");
        expect(attacksOn([one, proxy([one, replaced])])).toMatchObject([{ pods: ["hot-deals-1"] }]);
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

    it("is told of its target, and once that is gone, of the pods that were killed last", () => {
        const first = target("hot-deals-1", "kill", "killed repeatedly");
        expect(attacksOn([first])).toMatchObject([{ workload: "hot-deals", pods: ["hot-deals-1"] }]);
        expect(attacksOn([killer(killed)])).toEqual([
            { workload: "hot-deals", effect: "killed repeatedly", pods: ["hot-deals-2"] },
            { workload: "orders", effect: "killed repeatedly", pods: ["orders-0"] },
        ]);
    });

    it("is over when the deadline Job has ended", () => expect(attacksOn([killer(killed, false)])).toEqual([]));

    it("whose annotation cannot be read is not told", () => expect(attacksOn([killer("{")])).toEqual([]));
});
