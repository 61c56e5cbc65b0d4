import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { labels } from "../../../../chaos/cluster/labels";
import { runPods } from "../../../../chaos/pods/pod-options";
import type { Room } from "../../../../chaos/run/contract";
import { refuseSelectedPods } from "../../../../chaos/run/selected-pods";
import { refuse } from "../support/fake-cluster";
import { FakeRun } from "../support/fake-run";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

const own = { ...runPods.labels, [labels.experiment]: "e", [labels.pass]: "7b1e" };

/** What a run makes whose `pod` has these labels. */
const room = (given: Record<string, string>): Room => {
    const metadata = { labels: { ...own, ...given } };
    return { job: { spec: { template: { metadata } } }, attacks: [{ kind: "Pod", metadata }] };
};
const refused = (given: Record<string, string>) => refuseSelectedPods(run.context, room(given));
const web = { matchLabels: { app: "web" } };

describe("labels of `pod` are refused before anything is made if they make the run's pods", () => {
    it.each<[kind: Parameters<FakeRun["cluster"]["add"]>[0], effect: string, spec: object]>([
        ["Service", "get a share of its requests", { selector: { app: "web" } }],
        ["NetworkPolicy", "have what it allows and denies", { podSelector: web }],
        ["ReplicaSet", "be taken for its pods", { selector: web }],
        ["StatefulSet", "be taken for its pods", { selector: web }],
    ])("those of a %s", async (kind, effect, spec) => {
        run.cluster.add(kind, "front", { spec });
        await expect(refused({ app: "web", team: "a" })).rejects.toThrow(
            `the labels of \`pod\` (app=web) are those that ${kind} front of namespace demo selects, and the run's ` +
                `own pods would ${effect}. Remove one of them from pod.labels`,
        );
        expect(run.cluster.calls.filter((call) => !call.startsWith("list"))).toEqual([]);
    });
});

describe("labels of `pod` are no mistake", () => {
    it("if a policy selects all pods, and so the run's in any case", async () => {
        run.cluster.add("NetworkPolicy", "default-deny", { spec: { podSelector: {} } });
        run.cluster.add("Service", "external", { spec: {} });
        await refused({ app: "web" });
    });

    it("if only some of a selector's are among them", async () => {
        run.cluster.add("Service", "front", { spec: { selector: { app: "web", tier: "a" } } });
        await refused({ app: "web" });
    });

    it("if the account may not look", async () => {
        run.cluster.add("Service", "front", { spec: { selector: { app: "web" } } });
        run.cluster.intercept = () => refuse(403, "forbidden");
        await refused({ app: "web" });
    });

    it("if there are none: nothing is asked", async () => {
        await refused({});
        expect(run.cluster.calls).toEqual([]);
    });
});
