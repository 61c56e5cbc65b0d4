import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { describe, expect, it } from "vitest";
import { chaosRepeat, repeatOptions } from "../../../../chaos/cli/repeat";
import type { Interruption } from "../../../../chaos/cli/interruption";
import { previewedOf } from "../../../../chaos/cli/repeat/previewed";
import type { ProgramStack } from "../../../../chaos/cli/repeat/program-stack";
import { RepeatedExperiment } from "../../../../chaos/cli/repeat/repeated-experiment";
import { runSeries } from "../../../../chaos/cli/series";
import type { ReportedRun } from "../../../../chaos/report/reported-run";
import type { AskedRun } from "../../../../chaos/run/asked-run";

const experimentType = "chaos-experiments:index:Experiment";
const stack = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
const urnOf = (name: string) => `urn:pulumi:dev::shop::${experimentType}::${name}`;

/** The engine says so, and the SDK's types do not know it. */
const none = null as unknown as undefined;

function step(
    urn: string,
    op: StepEventMetadata["op"],
    { inputs = {}, parent = stack, custom = true } = {},
): EngineEvent {
    const state = { type: "", urn, id: "", parent, custom, inputs, outputs: {}, provider: "" };
    const metadata = {
        op,
        urn,
        type: "",
        provider: "",
        ...(op === "delete" ? { old: state, new: none } : { new: state }),
    };
    return { sequence: 0, timestamp: 0, resourcePreEvent: { metadata } };
}

interface Shown {
    radius?: number;
    run?: string;
    context?: string;
    namespaceUid?: string;
}
const experiment = ({ radius = 1, run = "previewed", context = "kind-kind", namespaceUid = "u" }: Shown = {}) =>
    step(urnOf("orders"), "update", {
        custom: false,
        inputs: { run, context, radius, asked: { reports: "/shop/chaos-reports", namespaceUid } },
    });
const part = step(`urn:pulumi:dev::shop::${experimentType}$command:local:Command::orders-check`, "create", {
    parent: urnOf("orders"),
});
const previewed = (events: EngineEvent[]) => previewedOf(events, "orders", "pulumi up --stack dev");
const settingsOf = (shown: Shown) => previewed([experiment(shown)]).settings;

describe("the preview of a run that is repeated", () => {
    it("shows the folder of the reports, and what the program says", () => {
        const said = {
            diagnosticEvent: { message: "<{%reset%}>orders would hit 1 container\n", severity: "info" },
        };
        const events = [step(stack, "same", { parent: "", custom: false }), experiment(), part, said as EngineEvent];
        expect(previewed(events)).toMatchObject({
            reports: "/shop/chaos-reports",
            lines: ["orders would hit 1 container"],
        });
    });

    it("distinguishes settings, and clusters of the same context, and not runs", () => {
        expect(settingsOf({ run: "another" })).toBe(settingsOf({}));
        expect(settingsOf({ context: "another-name" })).toBe(settingsOf({}));
        expect(settingsOf({ radius: 2 })).not.toBe(settingsOf({}));
        expect(settingsOf({ namespaceUid: "of another cluster" })).not.toBe(settingsOf({}));
    });

    it("refuses an update that changes anything else", () => {
        const deployment = "urn:pulumi:dev::shop::kubernetes:apps/v1:Deployment::api";
        expect(() => previewed([experiment(), part, step(deployment, "update")])).toThrow(
            "the update would also change Deployment api. Update the stack first, then repeat: pulumi up --stack dev",
        );
        expect(() => previewed([experiment(), part, step(deployment, "delete")])).toThrow("Deployment api");
        expect(previewed([experiment(), part, step(deployment, "same")])).toBeDefined();
    });

    it("refuses an update that runs another experiment", () => {
        const other = step(`urn:pulumi:dev::shop::${experimentType}$command:local:Command::other-check`, "create", {
            parent: urnOf("other"),
        });
        const both = [experiment(), step(urnOf("other"), "create", { custom: false }), other];
        expect(() => previewed(both)).toThrow("also change Command other-check");
    });

    it("refuses one that only the state has any more", () => {
        const gone = step(urnOf("orders"), "delete", { custom: false });
        expect(() => previewed([gone])).toThrow(
            "the program has no experiment orders; none is enabled or disabled in it",
        );
    });

    it("refuses a name that no experiment of the program has, and says which there are", () =>
        expect(() => previewedOf([experiment()], "order", "")).toThrow(
            "the program has no experiment order; allowed: orders",
        ));
});

describe("a series whose program changes meanwhile", () => {
    const deployment = step("urn:pulumi:dev::shop::kubernetes:apps/v1:Deployment::api", "update");
    /** The updates of a series of three runs. @param before what the preview of each run shows */
    const series = async (...before: EngineEvent[][]) => {
        const updates: string[] = [];
        const stack = {
            name: "dev",
            preview: async (_: AskedRun, onEvent: (event: EngineEvent) => void) => before.shift()!.forEach(onEvent),
            up: async ({ enabled }: AskedRun) => updates.push(enabled ? "runs" : "undoes"),
        } as unknown as ProgramStack;
        const interruption = {
            happened: false,
            check: () => undefined,
            throughout: (work: () => unknown) => work(),
        } as unknown as Interruption;
        const runs = await RepeatedExperiment.preview(stack, "orders", interruption, () => undefined);
        const outcomes: ReportedRun[] = [];
        let problem: string | undefined;
        const repeat = { times: 3, isContinued: false };
        await runSeries(runs, repeat, outcomes, () => undefined).catch(({ message }: Error) => (problem = message));
        return { updates, outcomes: outcomes.length, problem };
    };
    const run = ["runs", "undoes"];

    it("previews each run", async () =>
        expect(await series([experiment()], [experiment()], [experiment()])).toEqual({
            updates: [...run, ...run, ...run],
            outcomes: 3,
            problem: undefined,
        }));

    it("ends before a run that would change anything else, and does not update the stack to undo it", async () =>
        expect(await series([experiment()], [experiment(), deployment])).toEqual({
            updates: run,
            outcomes: 1,
            problem: expect.stringContaining("the update would also change Deployment api"),
        }));

    it("ends before a run with other settings", async () =>
        expect(await series([experiment()], [experiment()], [experiment({ radius: 2 })])).toEqual({
            updates: [...run, ...run],
            outcomes: 2,
            problem: expect.stringContaining("the program has changed orders since the series began"),
        }));
});

describe("the arguments of chaos repeat", () => {
    it("ask for a series", () =>
        expect(repeatOptions(["orders", "--times", "20", "--until", "70%", "--continue", "--stack", "dev"])).toEqual({
            experiment: "orders",
            repeat: { times: 20, until: 0.7, isContinued: true },
            stack: "dev",
            files: {},
        }));

    it("are told all mistakes at once, with an exit code that is no verdict's", async () => {
        const printed: string[] = [];
        const output = { log: () => undefined, error: (line: string) => printed.push(line) };
        expect(await chaosRepeat(["--times", "1", "--junit", ""], output)).toBe(1);
        expect(printed.join("\n").split("\n")).toEqual([
            "name exactly one experiment of the program",
            "--times 1: allowed: a whole number from 2 to 9999",
            '--junit "": the name of a file is missing',
            "See: chaos repeat --help",
        ]);
    });

    it("name a stack, if they do: a variable without a value would have the selected one attacked", () =>
        expect(() => repeatOptions(["--stack", ""])).toThrow(
            "name exactly one experiment of the program\n" +
                'add --times, such as --times 10\n--stack "": the name of a stack is missing',
        ));
});
