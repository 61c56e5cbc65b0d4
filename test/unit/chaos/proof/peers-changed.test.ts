import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunAttack } from "../../../../chaos/definition/plan";
import { whyPeersChanged } from "../../../../chaos/proof/peers-changed";
import { FakeRun } from "../support/fake-run";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

const peers = "k8s.deployment=hot-deals,k8s.namespace=demo";

/** @param uids of the peers that the attack was made for */
const why = (uids: string[], targets: string[] = []) => {
    const those = (some: string[]) => some.map((uid) => ({ uid }));
    const attack = {
        attack: { kind: "blackhole", direction: "egress", peers },
        target: "k8s.deployment=front,k8s.namespace=demo",
        chosen: { peers: those(uids), targets: those(targets), matching: 1 },
    };
    return whyPeersChanged(run.cluster.api, run.plan, attack as unknown as RunAttack);
};
const uid = (pod: string) => run.cluster.get("Pod", pod).metadata.uid!;

describe("the peers of an attack", () => {
    it("are those of before as long as none comes", async () => {
        expect(await why([uid("hot-deals-1"), uid("hot-deals-2")])).toBeUndefined();
    });

    it("are fewer once one is gone, and traffic with the others is still denied", async () => {
        expect(await why([uid("hot-deals-1"), uid("hot-deals-2"), "gone"])).toBeUndefined();
    });

    it("are not those of before once one came, as in a rollout: traffic with that is not denied", async () => {
        expect(await why([uid("hot-deals-1")])).toEqual({
            code: "peers-changed",
            message: `hot-deals-2 joined the peers ${peers} during the run, and the attack was made for those before`,
        });
    });

    it("are none once all are gone", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.remove("Pod", pod);
        expect(await why(["gone"])).toEqual({
            code: "peers-changed",
            message: `none of the peers ${peers} was left before the run had ended`,
        });
    });

    it("are not the targets, which may match, too", async () => {
        expect(await why([uid("hot-deals-1")], [uid("hot-deals-2")])).toBeUndefined();
    });
});
