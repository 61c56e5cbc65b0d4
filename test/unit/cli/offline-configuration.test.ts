import { register } from "tsx/cjs/api";
import { afterAll, describe, expect, it } from "vitest";
import { mistakesInExperiment } from "../../../cli/offline-configuration";
import { savedExperiments } from "../../../experiments/saved";

// Saved experiments are TypeScript, which the programs of `npm run` load by tsx.
const unregister = register();
afterAll(unregister);

const mistakesIn = (set: Record<string, string>, inFile: Record<string, string> = {}) =>
    mistakesInExperiment(inFile, set, "local");

describe("the mistakes of a run, before it begins", () => {
    it.each(savedExperiments())("are none in $name on its variant", ({ name, variant = "four" }) => {
        expect(mistakesIn({ "experiment.name": name, variant })).toBeUndefined();
    });

    it("are told of the experiments whose actions take longer than the window, and of no other", () => {
        const short = { "experiment.duration": "8s", "experiment.grace": "1s" };
        expect(mistakesIn({ ...short, "experiment.name": "gateway-scaled" })).toMatch(
            /^experiment\.duration is "8s": .*; use --set experiment\.duration=\d\w+$/,
        );
        const waitsLonger = ({ actions = [] }: { actions?: { kind: string; durationMs?: number }[] }) =>
            actions.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0) >= 9_000;
        const others = savedExperiments().filter((one) => !waitsLonger(one));
        for (const { name, variant = "four" } of others)
            expect([name, mistakesIn({ ...short, "experiment.name": name, variant })]).toEqual([name, undefined]);
    });

    it("are told all at once", () => {
        const told = mistakesIn({ "experiment.name": "departments-scaled-in-time", "experiment.target": "a=b" });
        expect(told).toMatch(/experiment\.target is "a=b"/);
        expect(mistakesIn({ "experiment.radius": "0", "experiment.duration": "x" })?.split("\n")).toHaveLength(2);
    });

    it("include a target for an experiment that has several attacks", () => {
        const target = { "experiment.target": "k8s.deployment=gateway" };
        const mistakes = mistakesIn({ "experiment.name": "departments-scaled-in-time", ...target });
        expect(mistakes).toMatch(
            /target is "k8s\.deployment=gateway": departments-scaled-in-time has several attacks /,
        );
        expect(mistakes).toContain("; allowed: only for an");
    });

    it("include what the settings of the command line contradict, which would come before those of the stack", () => {
        expect(mistakesIn({ "ingress.class": "nginx" })).toMatch(/; use --set ingress\.hosts=shop\.example\.com$/);
        expect(mistakesIn({ variant: "four" }, { "replicas.orders": "2" })).toMatch(/; use --set variant=seven$/);
        expect(mistakesIn({}, { "ingress.class": "nginx", nmespace: "shop", namespace: "Bad_Name" })).toBeUndefined();
    });

    it("are mended by omitting what must not be set", () => {
        const several = { "experiment.name": "departments-scaled-in-time" };
        const target = { "experiment.target": "k8s.deployment=gateway" };
        expect(mistakesIn({ ...several, ...target })).toMatch(/; omit --set experiment\.target$/);
        const inFile = mistakesIn(several, target);
        expect(inFile).toMatch(/; npx pulumi config rm experiment\.target --stack local$/);
    });

    it("leave to the update what may be a secret of the stack", () => {
        expect(mistakesIn({ "agent.install": "chart", variant: "four" })).toBeUndefined();
    });
});
