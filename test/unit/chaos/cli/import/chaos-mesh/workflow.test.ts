import { describe, expect, it } from "vitest";
import { documentsIn, importExperiments } from "../../../../../../chaos/cli/import/convert";
import type { Imported } from "../../../../../../chaos/cli/import/written";
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
        expect(noted(experiment!, "spec.templates.1.deadline")).toContain("that of a template around it counts: 5m");
    });

    it.each<[deadline: string | undefined, window: string]>([
        ["20s", "20s"],
        [undefined, "1m"],
    ])("with the deadline %s says that Chaos Mesh refuses a duration, and what counts here", (deadline, window) => {
        const { networkChaos } = partition("cut");
        const [experiment] = imported(
            workflow(partition("all", { deadline, networkChaos: { ...networkChaos, duration: "1m" } })),
            added,
        );
        expect(experiment!.args.window).toMatchObject({ duration: window });
        expect(noted(experiment!, "spec.templates.0.networkChaos.duration")).toBe(
            "is refused by Chaos Mesh in a Workflow, which has deadline for that",
        );
    });

    it("without a deadline says so, and not that the duration is missing", () => {
        const [experiment] = imported(workflow(partition("all", { deadline: undefined })), added);
        expect(noted(experiment!, "spec.templates.0.deadline")).toContain("is missing, so it lasts until");
        expect(noted(experiment!, "spec.templates.0.networkChaos.duration")).toBe("");
    });

    it.each<[deadline: string | undefined, duration: string | undefined, window: string, place: string, said: string]>([
        ["5m", "10s", "10s", "schedule.networkChaos.duration", ""],
        ["5s", "10s", "5s", "schedule.networkChaos.duration", "is longer than the deadline"],
        [undefined, "10s", "10s", "deadline", ""],
        ["5m", undefined, "5m", "schedule.networkChaos.duration", ""],
        [undefined, undefined, "30s", "deadline", "is missing"],
    ])("ends a Schedule's chaos after the shorter of %s and %s", (deadline, duration, window, place, said) => {
        const networkChaos = { ...partition("cut").networkChaos, duration };
        const schedule = { schedule: "@every 1m", type: "NetworkChaos", networkChaos };
        const [experiment] = imported(workflow({ name: "all", templateType: "Schedule", deadline, schedule }), added);
        expect(experiment!.args.window).toMatchObject({ duration: window });
        expect(noted(experiment!, `spec.templates.0.${place}`)).toEqual(
            said === "" ? "" : expect.stringContaining(said),
        );
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

    it.each(["300", "5min", "1d", "5 m"])("with the deadline %s, which is none, is not written", (deadline) => {
        const text = (outer: object, inner: object) =>
            workflow({ ...group("Serial", "all", "load", "cut"), ...outer }, stress("load"), partition("cut", inner));
        for (const [index, given] of [text({ deadline }, {}), text({}, { deadline })].entries()) {
            const { experiments, refused } = importExperiments(documentsIn(given), added);
            expect(experiments).toEqual([]);
            const path = `spec.templates.${index === 0 ? 0 : 2}.deadline`;
            expect(refused).toContainEqual({ path, reason: expect.stringContaining("is not a duration") });
        }
    });

    it("with a mistake around its attacks says what else is missing, too", () =>
        expect(refusedOf(workflow(partition("all", { deadline: "1d" }))).join()).toMatch(
            /deadline: is not a duration.*--hypothesis.*--check/,
        ));

    it.each(["Serial", "Parallel", "Suspend", "Task"])("refuses a key that no %s has", (templateType) => {
        const odd = { ...group("Serial", "odd"), templateType, children: ["load"], deadlin: "10s" };
        const task = { conditionalBranches: [{ target: "load" }] };
        const text = workflow(
            group("Serial", "all", "odd", "cut"),
            { ...odd, ...task },
            stress("load"),
            partition("cut"),
        );
        expect(importExperiments(documentsIn(text), added).experiments).toEqual([]);
        expect(refusedOf(text, added)).toContain("spec.templates.1.deadlin: has no counterpart");
    });

    describe("whose Serial has a deadline", () => {
        const durations = (text: string) =>
            imported(text, added).map(({ name, args }) => [name, args.window!.duration]);
        const rest = { name: "rest", templateType: "Suspend", deadline: "10s" };
        const inAll = (deadline: string, ...children: string[]) => ({
            ...group("Serial", "all", ...children),
            deadline,
        });

        it("ends an attack after what earlier ones have left of it, and says so", () => {
            const text = workflow(inAll("50s", "load", "rest", "cut"), stress("load"), rest, partition("cut"));
            expect(durations(text)).toEqual([
                ["storm-load", "20s"],
                ["storm-cut", "20s"],
            ]);
            expect(noted(imported(text, added)[1]!, "spec.templates.3.deadline")).toContain(
                "ends it at the latest after 20s, less what comes before it",
            );
        });

        it("leaves out what begins when the time is over, and says so", () => {
            const around = { ...group("Serial", "later", "rest", "cut"), deadline: "5m" };
            const text = workflow(inAll("30s", "load", "later"), stress("load"), around, rest, partition("cut"));
            expect(durations(text)).toEqual([["storm", "20s"]]);
            expect(noted(imported(text, added)[0]!, "spec.templates.4")).toContain("does not begin there");
        });

        it("takes what is done at once for its longest, and what has no deadline for all that is left", () => {
            const at = { ...group("Parallel", "at", "load", "rest") };
            const parallel = workflow(inAll("50s", "at", "cut"), at, stress("load"), rest, partition("cut"));
            expect(durations(parallel)).toContainEqual(["storm-cut", "30s"]);
            const endless = workflow(
                inAll("50s", "load", "cut"),
                stress("load", { deadline: undefined }),
                partition("cut"),
            );
            expect(durations(endless)).toEqual([["storm", "50s"]]);
        });
    });

    describe("with a StatusCheck", () => {
        const look = (name = "look", more: object = {}, path = "/health") => ({
            name,
            templateType: "StatusCheck",
            statusCheck: {
                mode: "Continuous",
                type: "HTTP",
                timeoutSeconds: 2,
                intervalSeconds: 1,
                failureThreshold: 1,
                http: { url: `http://front.shop.svc:8080${path}`, criteria: { statusCode: "200-299" } },
                ...more,
            },
        });
        const fromFile = { hypothesis: "It holds.", checks: [] };
        const checkNames = ({ args }: Imported) => args.checks.map(({ name }) => name);
        const at = "spec.templates.1.statusCheck";

        it("beside a chaos in a Parallel asks the same while it is attacked, by the template's name", () => {
            const text = workflow(group("Parallel", "all", "look", "cut"), look(), partition("cut"));
            const [experiment] = imported(text, fromFile);
            expect(experiment!.args.checks).toEqual([
                {
                    kind: "http",
                    name: "look",
                    service: "front",
                    namespace: "shop",
                    port: 8080,
                    path: "/health",
                    status: [200, 299],
                    timeoutMs: 2_000,
                },
            ]);
            expect(noted(experiment!, `${at}.http`)).toContain("redirects are followed there");
            for (const field of ["intervalSeconds", "failureThreshold"])
                expect(noted(experiment!, `${at}.${field}`)).toBe("");
        });

        it("says what its defaults are there, since they differ here", () => {
            const defaults = look("look", { intervalSeconds: undefined, failureThreshold: undefined });
            const [experiment] = imported(
                workflow(group("Parallel", "all", "look", "cut"), defaults, partition("cut")),
                fromFile,
            );
            expect(noted(experiment!, `${at}.intervalSeconds`)).toContain("default: 10");
            expect(noted(experiment!, `${at}.failureThreshold`)).toContain("default: 3");
        });

        it("that ends by itself lasts as long as the window, and says so", () => {
            const ending = { ...look("look", { duration: "5s" }), deadline: "10s" };
            const text = workflow(group("Parallel", "all", "look", "cut"), ending, partition("cut"));
            const [experiment] = imported(text, fromFile);
            for (const place of ["spec.templates.1.deadline", `${at}.duration`])
                expect(noted(experiment!, place)).toContain("a check lasts as long as the window");
        });

        it("beside the attacks of one branch is a check of these, and left out of others with a remark", () => {
            const text = workflow(
                group("Serial", "all", "load", "branch"),
                look(),
                stress("load"),
                group("Parallel", "branch", "turns", "look", "fast"),
                group("Serial", "turns", "cut", "rest", "again"),
                partition("cut"),
                { name: "rest", templateType: "Suspend", deadline: "10s" },
                partition("again"),
                look("fast", { http: { url: "http://front.shop.svc:8080/health", criteria: { statusCode: "404" } } }),
            );
            const [load, cut, again] = imported(text, { ...fromFile, checks: added.checks });
            expect(load!.args.checks).toEqual(added.checks);
            expect(noted(load!, at)).toContain("is no child of a Parallel around load, and is left out");
            for (const experiment of [cut!, again!]) {
                expect(checkNames(experiment)).toEqual(["look", "fast", undefined]);
                expect(noted(experiment, at)).toBe("");
            }
        });

        it("after the attack in a Serial is left out with a remark: it is of what comes back", () => {
            const text = workflow(group("Serial", "all", "cut", "look"), look(), partition("cut"));
            const [experiment] = imported(text, added);
            expect(experiment!.args.checks).toEqual(added.checks);
            expect(noted(experiment!, at)).toContain("is left out");
            expect(refusedOf(text, fromFile)).toEqual([
                expect.stringContaining("add --check URL"),
                expect.stringMatching(`^${at}: .* is left out$`),
            ]);
        });

        it.each<[check: object, isOver: boolean]>([
            [{ deadline: "10s" }, true],
            [{ statusCheck: { ...look().statusCheck, duration: "10s" } }, true],
            [{ deadline: "11s" }, false],
            [{}, false],
        ])("with %j is left out if it is over before the attack begins", (more, isOver) => {
            const text = workflow(
                group("Parallel", "all", "later", "look"),
                { ...look(), ...more },
                group("Serial", "later", "rest", "cut"),
                { name: "rest", templateType: "Suspend", deadline: "10s" },
                partition("cut"),
            );
            const [experiment] = imported(text, added);
            expect(checkNames(experiment!)).toEqual(isOver ? [undefined] : ["look", undefined]);
            if (isOver) expect(noted(experiment!, at)).toBe("is over before cut begins, and is left out");
        });

        it("of a status that is right only under the attack is left out, as one of Steadybit", () => {
            const http = { url: "http://front.shop.svc/health", criteria: { statusCode: "503" } };
            const text = workflow(group("Parallel", "all", "look", "cut"), look("look", { http }), partition("cut"));
            const [experiment] = imported(text, added);
            expect(experiment!.args.checks).toEqual(added.checks);
            expect(noted(experiment!, at)).toMatch(/right only under the attack.*is left out/);
            expect(refusedOf(text, fromFile).join()).toMatch(/add --check URL.*right only under the attack/);
        });

        it("with a name longer than a check's has none", () => {
            const name = "look-".repeat(13);
            const text = workflow(group("Parallel", "all", name, "cut"), look(name), partition("cut"));
            expect(checkNames(imported(text, fromFile)[0]!)).toEqual([undefined]);
        });

        it("says of its address what may be a Service", () => {
            const http = { url: "http://front.shop/health", criteria: { statusCode: "200" } };
            const text = workflow(group("Parallel", "all", "look", "cut"), look("look", { http }), partition("cut"));
            const [experiment] = imported(text, fromFile);
            expect(noted(experiment!, `${at}.http.url`)).toContain("write front.shop.svc");
        });

        it.each(["2xx", "", undefined])("of the status %s is refused, and not taken for any good one", (statusCode) => {
            const http = { url: "http://front.shop.svc/health", criteria: { statusCode } };
            const text = workflow(group("Parallel", "all", "look", "cut"), look("look", { http }), partition("cut"));
            expect(refusedOf(text, fromFile)).toEqual([
                expect.stringContaining(`${at}.http.criteria.statusCode: is not a status such as 200`),
            ]);
        });

        it("of a status with a placeholder lacks its value, and nothing else", () => {
            const http = { url: "http://front.shop.svc/health", criteria: { statusCode: "{{ code }}" } };
            const text = workflow(group("Parallel", "all", "look", "cut"), look("look", { http }), partition("cut"));
            expect(refusedOf(text, fromFile)).toEqual([expect.stringContaining("--set code=…")]);
            const [experiment] = imported(text, { ...fromFile, set: { code: "404" } });
            expect(experiment!.args.checks).toMatchObject([{ status: 404 }]);
            expect(noted(experiment!, `${at}.http.criteria.statusCode`)).toContain("must hold before the attack, too");
        });

        it.each(["Synchronous", undefined])("of mode %s waits, and is left out wherever it is", (mode) => {
            for (const type of ["Serial", "Parallel"]) {
                const text = workflow(group(type, "all", "look", "cut"), look("look", { mode }), partition("cut"));
                const [experiment] = imported(text, added);
                expect(experiment!.args.checks).toEqual(added.checks);
                expect(noted(experiment!, at)).toContain("waits until it succeeds");
            }
        });
    });

    it("leaves out what its entry does not lead to, and says so", () => {
        const text = workflow(group("Serial", "all", "cut"), partition("cut"), stress("other"));
        const [experiment, ...others] = imported(text, added);
        expect(others).toEqual([]);
        expect(noted(experiment!, "spec.templates.2")).toContain("is not what the entry leads to");
    });

    it("does a template as often as it is reached, each time with the deadline around it", () => {
        const text = workflow(
            group("Serial", "all", "short", "long"),
            { ...group("Serial", "short", "cut"), deadline: "10s" },
            { ...group("Serial", "long", "cut"), deadline: "5m" },
            partition("cut", { deadline: undefined }),
        );
        const all = imported(text, added);
        expect(all.map(({ name, args }) => [name, args.window!.duration])).toEqual([
            ["storm-cut", "10s"],
            ["storm-cut-2", "5m"],
        ]);
    });

    it("says at the deadline that counts that a window is at most 1 h", () => {
        const around = { ...group("Serial", "all", "cut"), deadline: "2h" };
        for (const [own, place] of [
            ["90m", "spec.templates.1.deadline"],
            [undefined, "spec.templates.0.deadline"],
        ]) {
            const [experiment] = imported(workflow(around, partition("cut", { deadline: own })), added);
            expect(noted(experiment!, place!)).toContain("is longer than a window may be, and 1h here");
        }
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
            workflow({ name: "all", templateType: "Foo" }),
            "spec.templates.0.templateType",
            '"Foo" has no counterpart; has one: PodChaos, NetworkChaos, HTTPChaos, StressChaos, DNSChaos, ' +
                "StatusCheck, Schedule, Serial, Parallel, Suspend, Task",
        ],
        [
            workflow({ name: "all", templateType: "Workflow", workflowRef: { name: "other" } }),
            "spec.templates.0.templateType",
            "Workflow: is another Workflow. Nearest: import that by itself",
        ],
        [
            workflow(group("Parallel", "all", "look", "cut"), partition("cut"), {
                name: "look",
                templateType: "StatusCheck",
                statusCheck: { mode: "Once", http: {} },
            }),
            "spec.templates.2.statusCheck.mode",
            '"Once" has no counterpart; has one: Synchronous, Continuous',
        ],
    ])("%s is refused at %s: %s", (text, path, reason) =>
        expect(refusedOf(text, added).join("\n")).toContain(`${path}: ${reason}`),
    );
});
