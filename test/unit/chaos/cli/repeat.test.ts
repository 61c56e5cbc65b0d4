import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { describe, expect, it } from "vitest";
import { chaosRepeat, repeatOptions } from "../../../../chaos/cli/repeat";
import { previewedOf } from "../../../../chaos/cli/repeat/previewed";

const experimentType = "chaos-experiments:index:Experiment";
const stack = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
const urnOf = (name: string) => `urn:pulumi:dev::shop::${experimentType}::${name}`;

function step(
    urn: string,
    op: StepEventMetadata["op"],
    { inputs = {}, parent = stack, custom = true } = {},
): EngineEvent {
    const state = { type: "", urn, id: "", parent, custom, inputs, outputs: {}, provider: "" };
    const metadata = { op, urn, type: "", provider: "", ...(op === "delete" ? { old: state } : { new: state }) };
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

    it("refuses a name that no experiment of the program has, and says which there are", () =>
        expect(() => previewedOf([experiment()], "order", "")).toThrow(
            "the program has no experiment order; allowed: orders",
        ));
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
});
