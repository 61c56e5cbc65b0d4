import { describe, expect, it } from "vitest";
import { added, chaos, differences, everyPod, noted, only, refusedOf } from "../support";

const named = { ...added, service: "orders" };

describe("a StressChaos", () => {
    const stress = (stressors: object) => chaos("StressChaos", { ...everyPod, stressors });
    const memory = (fields: object) => stress({ memory: { workers: 1, ...fields } });
    const cpu = (fields: object) => stress({ cpu: { workers: 2, ...fields } });
    const ofStress = (text: string) => only(text).args.attacks![0] as { cpu?: string; memory?: string };

    it.each([
        ["256MB", "256M"],
        ["256MiB", "256Mi"],
        ["512Mi", "512Mi"],
        ["1GiB", "1Gi"],
        ["1.5G", "1500M"],
        ["2000000", "2M"],
        ["50%", "50%"],
    ])("of %s of memory takes %s", (size, taken) => expect(ofStress(memory({ size })).memory).toBe(taken));

    it("stays short of a limit, and says so; a share is of another whole", () => {
        const [amount, share] = ["256MB", "50%"].map((size) =>
            noted(only(memory({ size })), "spec.stressors.memory.size"),
        );
        expect(amount).toContain("add untilKilled: true");
        expect(amount).not.toContain("node's memory");
        expect(share).toContain("is of the node's memory there");
    });

    it.each<[fields: object, cores: string]>([
        [{}, "2000m"],
        [{ load: 50 }, "1000m"],
        [{ options: ["--cpu 4", "--timeout 600"] }, "4000m"],
        [{ load: 50, options: ["--cpu-load=25", "-t 60s"] }, "500m"],
    ])("of two workers with %j takes %s", (fields, cores) => expect(ofStress(cpu(fields)).cpu).toBe(cores));

    it("says that an end of its own is left out", () =>
        expect(noted(only(cpu({ options: ["--timeout 600"] })), "spec.stressors.cpu.options")).toContain(
            "after 600 s",
        ));

    it.each<[text: string, path: string]>([
        [memory({ size: "10KB" }), "spec.stressors.memory.size"],
        [memory({ size: "lots" }), "spec.stressors.memory.size"],
        [memory({}), "spec.stressors.memory.size"],
        [memory({ size: "1GB", options: ["--vm-keep"] }), "spec.stressors.memory.options"],
        [cpu({ options: ["--hdd 1"] }), "spec.stressors.cpu.options"],
        [cpu({ options: ["--cpu many"] }), "spec.stressors.cpu.options"],
        [stress({ io: { workers: 1 } }), "spec.stressors.io"],
    ])("%s is refused", (text, path) => expect(refusedOf(text, added).join("\n")).toContain(`${path}: `));
});

describe("a DNSChaos", () => {
    const dns = (spec: object) => chaos("DNSChaos", { ...everyPod, action: "error", ...spec });

    it.each([[[]], [["*"]]])("of the patterns %j blocks all lookups, and says how they fail", (patterns) => {
        const experiment = only(dns({ patterns }));
        expect(experiment.args.attacks).toEqual([{ kind: "dns", target: "k8s.namespace=shop", radius: "all" }]);
        expect(noted(experiment, "spec.action")).toContain("fail at their time limit");
    });

    it.each<[fields: object, path: string]>([
        [{ patterns: ["example.*"] }, "spec.patterns"],
        [{ action: "random" }, "spec.action"],
        [{ action: "replace" }, "spec.action"],
        [{ action: "delay" }, "spec.action"],
    ])("with %j is refused with what comes nearest", (fields, path) =>
        expect(refusedOf(dns(fields), added)).toEqual([expect.stringMatching(`^${path}: .*[Nn]earest`)]),
    );

    it("of some names is refused with what blocks all, and what blocks one host", () =>
        expect(refusedOf(dns({ patterns: ["example.com"] }), added).join()).toMatch(
            /omit them for that; for a host outside of the cluster, a blackhole/,
        ));
});

describe("an HTTPChaos of answers", () => {
    const http = (spec: object) => chaos("HTTPChaos", { ...everyPod, target: "Response", port: 80, ...spec });

    it.each<[fields: object, fault: object]>([
        [{ delay: "2s" }, { delay: "2s" }],
        [{ replace: { code: 503 } }, { abort: 503 }],
        [
            { replace: { code: 503 }, delay: "1s" },
            { abort: 503, delay: "1s" },
        ],
    ])("with %j is a fault with %j, and says that the pods do not see the requests", (fields, fault) => {
        const experiment = only(http(fields), named);
        expect(experiment.args.attacks).toMatchObject([{ kind: "fault", service: "orders", ...fault }]);
        expect(noted(experiment, "spec.target")).toContain("before they reach the pods");
    });

    it("with abort cuts the answers off, of which the pods have done what was asked for", () => {
        const experiment = only(http({ abort: true }), named);
        expect(experiment.args.attacks).toMatchObject([{ kind: "fault", service: "orders", cutAfter: 0 }]);
        expect(experiment.args.attacks![0]).not.toHaveProperty("abort");
        expect(noted(experiment, "spec.target")).toBe("");
    });

    it("that are replaced by others have their status, headers and body", () => {
        const replace = { code: 503, headers: { "retry-after": "2" }, body: "eyJlcnJvciI6InfDpG50In0=" };
        expect(only(http({ replace }), named).args.attacks).toMatchObject([
            { abort: { status: 503, headers: { "retry-after": "2" }, body: '{"error":"wänt"}' } },
        ]);
    });

    it.each<[fields: object, path: string]>([
        [{ replace: { code: 200 } }, "spec.replace.code: changes what is sent; .*Nearest"],
        [{ replace: { code: "5xx" } }, "spec.replace.code: changes what is sent; .*Nearest"],
        [{ replace: { body: "e30=" } }, "spec.replace: changes what is sent; .*Nearest"],
        [{ replace: { code: 503, body: "gICA" } }, "spec.replace.body: is no text in base64"],
        [{ replace: { code: 503, body: "{}" } }, "spec.replace.body: is no text in base64"],
        [{ target: "Request", replace: { method: "POST" } }, "spec.replace: changes what is sent; .*Nearest"],
        [{ delay: "1s", patch: { headers: [["a", "b"]] } }, "spec.patch: changes what is sent; .*Nearest"],
        [{}, "spec: has none of abort, delay and replace"],
        [{ abort: { percentage: 5 } }, "spec.abort: is a list or an object"],
        [{ delay: "1s", code: 404 }, "spec.code: .*Nearest"],
        [{ abort: true, replace: { code: 503 } }, "spec.replace"],
        [{ delay: "1s", tls: { secretName: "tls" } }, "spec.tls"],
    ])("with %j is refused", (fields, path) =>
        expect(refusedOf(http(fields), named).join("\n")).toMatch(new RegExp(`^${path}`, "m")),
    );
});

describe("a Schedule of a pod-kill", () => {
    const schedule = (times: string) =>
        chaos("Schedule", {
            schedule: times,
            type: "PodChaos",
            podChaos: { action: "pod-kill", mode: "one", selector: {}, duration: "30s" },
        });

    it("@every 2s kills again after 2 s, and says how", () => {
        const experiment = only(schedule("@every 2s"));
        expect(experiment.args.attacks).toMatchObject([{ kind: "kill", intervalMs: 2_000, radius: 1 }]);
        expect(experiment.args.window).toEqual({ duration: "30s", grace: "0s" });
        expect(noted(experiment, "spec.podChaos.action")).toContain("until the Schedule ends; here until the window");
        expect(noted(experiment, "spec.podChaos.action")).toContain("one at a time");
        expect(noted(experiment, "spec.podChaos.duration")).toContain("has no effect there");
    });

    it("@every 1m may kill once in a window of 30 s, and says so", () => {
        const experiment = only(schedule("@every 1m"));
        expect(experiment.args).toMatchObject({ attacks: [{ intervalMs: 60_000 }], window: { duration: "30s" } });
        expect(noted(experiment, "spec.podChaos.action")).toContain("after 1m there; the window here, 30s, may end");
        expect(noted(experiment, "spec.podChaos.action")).not.toContain("until the Schedule ends");
    });

    it.each(["5 * * * *", "@hourly", "@every 10ms"])("%s kills once", (times) => {
        const experiment = only(schedule(times));
        expect(experiment.args.attacks).toMatchObject([{ intervalMs: 86_400_000 }]);
        expect(noted(experiment, "spec.schedule")).toContain("an experiment runs once");
    });
});

it.each([
    ["PodChaos", { action: "pod-kill", duration: "5m" }, "has no effect there, since pods are deleted at once; here "],
    ["PodChaos", { action: "pod-kill", duration: undefined }, "since pods are deleted at once; here the window is 30s"],
    ["NetworkChaos", { action: "partition", duration: undefined }, "lasts until it is deleted; here the window is 30s"],
])("a %s with %j has a window of 30 s, all of which counts, and says: %s", (kind, fields, reason) => {
    const experiment = only(chaos(kind, { ...everyPod, ...fields }));
    expect(experiment.args.window).toEqual({ duration: "30s", grace: "0s" });
    expect(noted(experiment, "spec.duration")).toContain(reason);
});

it("a container-kill is refused with what comes nearest", () =>
    expect(refusedOf(chaos("PodChaos", { ...everyPod, action: "container-kill" }), added)).toEqual([
        expect.stringMatching(/^spec\.action: .*Nearest: .*pod-failure/),
    ]));

it("a pod-failure is a fail of all containers as long as it lasts, and says what differs", () => {
    const experiment = only(chaos("PodChaos", { ...everyPod, action: "pod-failure", containerNames: ["main"] }));
    expect(experiment.args).toMatchObject({
        attacks: [{ kind: "fail", target: "k8s.namespace=shop", radius: "all" }],
        window: { duration: "10s" },
    });
    expect(noted(experiment, "spec.action")).toContain("here the containers do not run");
    expect(noted(experiment, "spec.containerNames")).toContain("Chaos Mesh ignores it");
});

it.each([
    ...["IOChaos", "IoChaos", "TimeChaos", "JVMChaos", "KernelChaos", "BlockChaos", "PhysicalMachineChaos", "AWSChaos"],
    ...["GCPChaos", "AzureChaos", "StatusCheck"],
])("a %s is refused by its name, with what comes nearest", (kind) =>
    expect(refusedOf(chaos(kind, everyPod), added)).toEqual([
        expect.stringMatching(`^kind: ${kind}: .*([Nn]earest|comes near|--check)`),
    ]),
);

it.each(["IOChaos", "JVMChaos"])("an %s has the attack that comes nearest named, not the kind of a file", (kind) => {
    const [reason] = refusedOf(chaos(kind, everyPod), added);
    expect(reason).toContain("a fault with delay or abort");
    expect(reason).not.toMatch(/(Network|HTTP|Stress)Chaos/);
});

it.each(["ChaosWorkflow", undefined])("the kind %s is refused with all kinds that are read", (kind) =>
    expect(refusedOf(chaos(kind!, everyPod), added)).toEqual([
        expect.stringMatching(/^kind: .*has one: PodChaos, .*, Workflow, Schedule$/),
    ]),
);

it("a window is at most 1 h, and it is said if it was longer", () => {
    const experiment = only(chaos("NetworkChaos", { ...everyPod, action: "partition", duration: "9000h" }));
    expect(experiment.args.window).toEqual({ duration: "1h", grace: "0s" });
    expect(noted(experiment, "spec.duration")).toContain("is longer than a window may be");
});

it("a random share is the most of it, and that is said", () => {
    const spec = { ...everyPod, action: "partition", direction: "both", mode: "random-max-percent", value: "40" };
    const experiment = only(chaos("NetworkChaos", spec));
    expect(experiment.args.attacks).toMatchObject([{ radius: "40%" }]);
    expect(noted(experiment, "spec.value")).toContain("here it is always this share");
});

it("what kubectl adds to an object is said, and no more", () => {
    const text = JSON.parse(chaos("NetworkChaos", { ...everyPod, action: "partition", direction: "both" })) as object;
    const experiment = only(JSON.stringify({ ...text, status: { conditions: [], x: 1 } }));
    expect(differences(experiment)).toEqual(["status", "spec.mode"]);
});
