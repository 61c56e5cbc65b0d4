import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { previewTargets } from "../../../../chaos/face/preview";
import { refuse } from "../support/fake-cluster";
import { FakeRun } from "../support/fake-run";

let run: FakeRun;
const told: string[] = [];
beforeEach(() => {
    run = new FakeRun();
    told.length = 0;
    for (const level of ["info", "warn"] as const)
        vi.spyOn(pulumi.log, level).mockImplementation(async (message) => void told.push(`${level}: ${message}`));
});
afterEach(() => run.close());

const besides = ["It would check /products"];
const target = "k8s.deployment=hot-deals,k8s.namespace=demo";

it("a preview names the containers that an experiment would choose from", async () => {
    await previewTargets(run.plan, () => run.cluster.api, besides);
    expect(told).toEqual([
        `info: hot-deals-blackhole would hit 1 container of 2 that match ${target}, chosen when the attack begins; ` +
            "running now: hot-deals-1/hot-deals, hot-deals-2/hot-deals\nIt would check /products",
    ]);
});

it("a preview marks those that are not ready, and counts them only if the attack asks for them", async () => {
    run.setReady("hot-deals-2", false);
    run.plan.attacks[0]!.radius = { kind: "all" };
    await previewTargets(run.plan, () => run.cluster.api, besides);
    run.plan.attacks[0]!.includeNotReady = true;
    await previewTargets(run.plan, () => run.cluster.api, besides);
    expect(told).toEqual([
        expect.stringMatching(/would hit 1 container of 1 that are ready and match .*-2\/hot-deals \(not ready\)$/m),
        expect.stringMatching(/would hit 2 containers of 2 that match .*-2\/hot-deals \(not ready\)$/m),
    ]);
});

it("a preview warns of a target that nothing matches, and lists what could be attacked", async () => {
    run.plan.attacks[0]!.target = "k8s.deployment=hot-dogs,k8s.namespace=demo";
    await previewTargets(run.plan, () => run.cluster.api, besides);
    expect(told).toEqual([
        expect.stringContaining("would hit 0 containers of 0"),
        expect.stringMatching(
            /^warn: .* would not begin now: no running container matches k8s\.deployment=hot-dogs[^]*=hot-deals/,
        ),
    ]);
});

it("a preview of a kill marks pods that nothing would replace, and leaves them out", async () => {
    run.cluster.get("Pod", "hot-deals-2").metadata.ownerReferences = [];
    run.cluster.get("Pod", "hot-deals-2").spec.containers[0].name = "loose";
    run.plan.attacks = [
        { ...run.plan.attacks[0]!, target: "k8s.namespace=demo", attack: { kind: "kill" }, radius: { kind: "all" } },
    ];
    await previewTargets(run.plan, () => run.cluster.api, besides);
    expect(told).toEqual([
        expect.stringMatching(
            /would hit 1 .* of 1 that may be chosen .*: hot-deals-1\S+ hot-deals-2\/loose \(without a controller\)$/m,
        ),
    ]);
});

it("a preview says why pods that run are left alone", async () => {
    for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.get("Pod", pod).spec.hostNetwork = true;
    await previewTargets(run.plan, () => run.cluster.api, besides);
    expect(told).toEqual([
        expect.stringMatching(/would hit 0 .* hot-deals-1\/hot-deals \(on the host's network\), hot-deals-2\S+ \(on/),
        expect.stringMatching(
            /^warn: .* not begin now: 2 containers match .*, but their pods are on the host's network/,
        ),
    ]);
});

it("a preview tells what else is in the pods, and that outward may stay unproven", async () => {
    for (const pod of ["hot-deals-1", "hot-deals-2"])
        run.cluster.get("Pod", pod).spec.containers.push({ name: "proxy" });
    run.plan.attacks[0]!.target += ",k8s.container.name=hot-deals";
    run.plan.attacks[0]!.outward = "unproven";
    await previewTargets(run.plan, () => run.cluster.api, besides);
    expect(told[0]).toContain(
        "hot-deals-2/hot-deals; in the same pods, and hit with them: hot-deals-1/proxy, hot-deals-2/proxy. Where " +
            "nothing can be tried in a pod, outward is not proven",
    );
});

it.each([{ kind: "fail" } as const, { kind: "stress" } as const])(
    "a preview of %j does not say that what else is in the pods is hit",
    async (attack) => {
        run.cluster.get("Pod", "hot-deals-1").spec.containers.push({ name: "proxy" });
        run.plan.attacks = [{ ...run.plan.attacks[0]!, attack, target: `${target},k8s.container.name=hot-deals` }];
        await previewTargets(run.plan, () => run.cluster.api, besides);
        expect(told[0]).toMatch(/running now: hot-deals-1\/hot-deals, hot-deals-2\/hot-deals$/m);
    },
);

it("a preview names the right that is missing, and goes on", async () => {
    run.cluster.intercept = (call) => {
        if (call !== "list Pod") return;
        refuse(403, 'pods is forbidden: User "ada" cannot list resource "pods" in API group "" at the cluster scope');
    };
    await previewTargets(run.plan, () => run.cluster.api, besides);
    expect(told).toEqual([
        expect.stringMatching(
            /^warn: the targets of hot-deals-blackhole cannot be previewed: the account "ada" may not list pods in/,
        ),
        `info: hot-deals-blackhole would attack ${target}\nIt would check /products`,
    ]);
});

it("a preview of an attack that could not begin now still says what would be done and checked", async () => {
    run.plan.attacks = [{ ...run.plan.attacks[0]!, attack: { kind: "fault", service: "gone", delay: "1s" } }];
    await previewTargets(run.plan, () => run.cluster.api, ["Meanwhile it would restart gateway", ...besides]);
    expect(told).toEqual([
        expect.stringMatching(/^warn: hot-deals-blackhole would not begin now: /),
        expect.stringMatching(/\nMeanwhile it would restart gateway\nIt would check \/products$/),
    ]);
});
