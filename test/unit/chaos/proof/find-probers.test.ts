import { afterEach, beforeEach, expect, it } from "vitest";
import type { Host } from "../../../../chaos/kinds/attacks/attack-kind";
import { findProbers, kindsFor } from "../../../../chaos/proof/find-probers";
import { containersOf, type Discovered } from "../../../../chaos/targets/containers";
import { FakeRun } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

/** The containers of the two pods of hot-deals, each of the template with this hash. */
const discovered = (...hashes: (string | undefined)[]): Discovered[] =>
    hashes.flatMap((hash, index) => {
        const pod = run.cluster.get("Pod", `hot-deals-${index + 1}`);
        if (hash !== undefined) pod.metadata.labels = { "pod-template-hash": hash };
        return containersOf(pod, "hot-deals", "local");
    });

/** Looks for tools in these containers. @returns in how many of their pods, and which pods have none */
async function look(targets: Discovered[]) {
    let looks = 0;
    const { hasProgram } = run;
    run.hasProgram = (...asked) => {
        looks++;
        return hasProgram(...asked);
    };
    const chosen = { name: "blackhole", matching: targets.length, targets };
    const { lacking } = await settled(findProbers(run.cluster.api, { outward: { port: 1 } }, chosen, targets));
    return { looks, lacking };
}

it("pods of one template have the same tools: one of them is looked into", async () =>
    expect(await look(discovered("a", "a"))).toEqual({ looks: 1, lacking: [] }));

it.each([
    ["of two templates", ["a", "b"]],
    ["of which no template is known", [undefined, undefined]],
])("each of two pods %s is looked into", async (_, hashes) =>
    expect(await look(discovered(...hashes))).toEqual({ looks: 2, lacking: [] }),
);

it("what one of them lacks, all of them lack", async () => {
    run.hasProgram = () => false;
    expect((await look(discovered("a", "a"))).lacking).toEqual([{ pod: "hot-deals-1" }, { pod: "hot-deals-2" }]);
});

it("only a host that is a name needs what looks names up; the API server's, which nobody named, does not", () => {
    const [address, name] = ["203.0.113.7", "api.example.com"].map((host) => ({ host, port: 443 }));
    const kinds = (hosts: object[], host: object) =>
        kindsFor({ addresses: { hosts: hosts as Host[], blocks: [] }, stillWorks: { host: host as Host } });
    const apiServer = { host: "kubernetes.default.svc", port: 443, isDefault: true };
    expect(kinds([address!], apiServer)).toEqual(["connect"]);
    expect(kinds([address!], name!)).toEqual(["connect", "resolve"]);
    expect(kinds([address!, name!], apiServer)).toEqual(["connect", "resolve"]);
});
