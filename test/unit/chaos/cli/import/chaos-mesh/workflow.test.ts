import { describe, expect, it } from "vitest";
import { documentsIn, importExperiments } from "../../../../../../chaos/cli/import/convert";
import { added, chaos, imported, noted, refusedOf } from "../support";

const stress = (name: string, more: object = {}) => ({
    name,
    templateType: "StressChaos",
    deadline: "20s",
    stressChaos: { mode: "all", selector: {}, containerNames: ["main"], stressors: { cpu: { workers: 1 } } },
    ...more,
});
const partition = (name: string, more: object = {}) => ({
    name,
    templateType: "NetworkChaos",
    deadline: "40s",
    networkChaos: { mode: "all", selector: {}, action: "partition", direction: "both" },
    ...more,
});
const group = (templateType: string, name: string, ...children: string[]) => ({ name, templateType, children });
const workflow = (...templates: object[]) =>
    chaos("Workflow", { entry: "all", templates }, { name: "storm", labels: undefined });

describe("a Workflow", () => {
    const inTurns = workflow(
        group("Serial", "all", "load", "rest", "cut"),
        partition("cut"),
        { name: "rest", templateType: "Suspend", deadline: "10s" },
        stress("load"),
    );

    it("is an experiment for each chaos, in their order, each as long as its deadline", () => {
        const all = imported(inTurns, added);
        expect(all.map(({ name, args }) => [name, args.attacks![0]!.kind, args.window!.duration])).toEqual([
            ["storm-load", "stress", "20s"],
            ["storm-cut", "blackhole", "40s"],
        ]);
    });

    it("says in each how they are done there", () => {
        for (const experiment of imported(inTurns, added))
            expect(noted(experiment, "spec.templates")).toContain("load, then nothing for 10s, then cut. Here each");
    });

    it.each<[template: object, order: string]>([
        [group("Parallel", "all", "load", "cut"), "at once (load; cut)"],
        [
            {
                name: "all",
                templateType: "Task",
                task: {},
                conditionalBranches: [{ target: "load" }, { target: "cut" }],
            },
            "the task all, then by its outcome load or cut",
        ],
    ])("of %j says: %s", (template, order) => {
        const all = imported(workflow(template, stress("load"), partition("cut")), added);
        expect(all.map(({ name }) => name)).toEqual(["storm-load", "storm-cut"]);
        expect(noted(all[1]!, "spec.templates")).toContain(order);
    });

    it("of one chaos has the workflow's name, and no order", () => {
        const [experiment, ...others] = imported(workflow(stress("all")), added);
        expect(others).toEqual([]);
        expect(experiment!.name).toBe("storm");
        expect(noted(experiment!, "spec.templates")).toBe("");
    });

    it("takes the names of templates alone if they would be cut together", () => {
        const names = ["a", "b"].map((letter) => letter.repeat(41));
        const all = imported(workflow(group("Serial", "all", ...names), ...names.map((name) => stress(name))), added);
        expect(all.map(({ name }) => name)).toEqual(names);
    });

    it("has the deadline of the template around a chaos without one, and says so", () => {
        const around = { ...group("Serial", "all", "load"), deadline: "5m" };
        const [experiment] = imported(workflow(around, stress("load", { deadline: undefined })), added);
        expect(experiment!.args.window).toMatchObject({ duration: "5m" });
        expect(noted(experiment!, "spec.templates.1.deadline")).toContain("that of a template around it counts");
    });

    it.each<[around: (string | undefined)[], own: string | undefined, window: string, said: string]>([
        [["30s"], "10m", "30s", "is longer than that of a template around it, which ends it"],
        [["30s", "5m"], "10m", "30s", "is longer than that of a template around it, which ends it"],
        [["30s", "5m"], undefined, "30s", "is missing, so that of a template around it counts"],
        [["5m", undefined], "10m", "5m", "is longer than that of a template around it, which ends it"],
        [["10m"], "30s", "30s", ""],
    ])("within deadlines %j ends a chaos of %s after %s", ([outer, inner], deadline, duration, said) => {
        const [experiment] = imported(
            workflow(
                { ...group("Serial", "all", "inner"), deadline: outer },
                { ...group("Parallel", "inner", "load"), deadline: inner },
                stress("load", { deadline }),
            ),
            added,
        );
        expect(experiment!.args.window).toEqual({ duration, grace: "0s" });
        if (said === "") expect(noted(experiment!, "spec.templates.2.deadline")).toBe("");
        else expect(noted(experiment!, "spec.templates.2.deadline")).toContain(said);
    });

    it("asks what a StatusCheck asks, during each attack", () => {
        const http = { url: "http://front.shop.svc:8080/health", criteria: { statusCode: "200-299" } };
        const check = { mode: "Continuous", type: "HTTP", timeoutSeconds: 2, intervalSeconds: 5, http };
        const template = { name: "look", templateType: "StatusCheck", statusCheck: check };
        const text = workflow(group("Parallel", "all", "look", "cut"), template, partition("cut"));
        const [experiment] = imported(text, { hypothesis: "It holds.", checks: [] });
        expect(experiment!.args.checks).toEqual([
            {
                kind: "http",
                service: "front",
                namespace: "shop",
                port: 8080,
                path: "/health",
                status: [200, 299],
                timeoutMs: 2_000,
            },
        ]);
        expect(noted(experiment!, "spec.templates.1.statusCheck.intervalSeconds")).toContain("each second");
    });

    it("says of a StatusCheck's address what may be a Service", () => {
        const http = { url: "http://front.shop/health", criteria: { statusCode: "200" } };
        const template = { name: "look", templateType: "StatusCheck", statusCheck: { mode: "Continuous", http } };
        const text = workflow(group("Parallel", "all", "look", "cut"), template, partition("cut"));
        const [experiment] = imported(text, { hypothesis: "It holds.", checks: [] });
        expect(noted(experiment!, "spec.templates.1.statusCheck.http.url")).toContain("write front.shop.svc");
    });

    it.each([{ mode: "Synchronous" }, {}])("leaves out what waits, such as %j, and what is not reached", (mode) => {
        const http = { url: "http://front.shop.svc/health", criteria: { statusCode: "503" } };
        const waiting = { name: "look", templateType: "StatusCheck", statusCheck: { type: "HTTP", http, ...mode } };
        const text = workflow(group("Serial", "all", "look", "cut"), waiting, partition("cut"), stress("other"));
        const [experiment, ...others] = imported(text, added);
        expect(others).toEqual([]);
        expect(experiment!.args.checks).toEqual(added.checks);
        expect(noted(experiment!, "spec.templates.1.statusCheck")).toContain("waits until it succeeds");
        expect(noted(experiment!, "spec.templates.3")).toContain("is not what the entry leads to");
    });

    it("kills again and again until the deadline if a Schedule does, and says when it would begin again", () => {
        const podChaos = { action: "pod-kill", mode: "one", selector: {} };
        const schedule = { schedule: "@every 5s", type: "PodChaos", podChaos };
        const [experiment] = imported(
            workflow({ name: "all", templateType: "Schedule", deadline: "1m", schedule }),
            added,
        );
        expect(experiment!.args).toMatchObject({ attacks: [{ intervalMs: 5_000 }], window: { duration: "1m" } });
        expect(noted(experiment!, "spec.templates.0.schedule.schedule")).toContain("schedule the updates");
    });

    it("in a Schedule is the same", () => {
        const { spec } = JSON.parse(inTurns) as { spec: object };
        const text = chaos("Schedule", { schedule: "@daily", type: "Workflow", workflow: spec }, { name: "storm" });
        const all = imported(text, added);
        expect(all.map(({ name }) => name)).toEqual(["storm-load", "storm-cut"]);
        expect(noted(all[0]!, "spec.schedule")).toContain("schedule the updates");
    });

    it("is written without the chaos that cannot be said, which is named", () => {
        const io = { name: "files", templateType: "IOChaos", ioChaos: {} };
        const text = workflow(group("Serial", "all", "files", "cut"), io, partition("cut"));
        const { experiments, refused } = importExperiments(documentsIn(text), added);
        expect(experiments.map(({ name }) => name)).toEqual(["storm-cut"]);
        expect(refused[0]).toEqual({
            path: "spec.templates.1.templateType",
            reason: expect.stringMatching(/^IOChaos: .*Nearest/),
        });
    });

    it.each<[text: string, path: string, reason: string]>([
        [workflow(group("Serial", "all", "none")), "spec.templates", 'have none with the name "none"'],
        [workflow(group("Serial", "all", "all")), "spec.templates.0", "leads back to itself"],
        [workflow({ name: "all", templateType: "Suspend", deadline: "1s" }), "spec.entry", "leads to no chaos"],
        [chaos("Workflow", { templates: [stress("load")] }), "spec.entry", "is missing"],
        [
            workflow({ name: "all", templateType: "StatusCheck", statusCheck: { mode: "Once", http: {} } }),
            "spec.templates.0.statusCheck.mode",
            '"Once" has no counterpart; has one: Synchronous, Continuous',
        ],
    ])("%s is refused at %s: %s", (text, path, reason) =>
        expect(refusedOf(text, added).join("\n")).toContain(`${path}: ${reason}`),
    );
});
