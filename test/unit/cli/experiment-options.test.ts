import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { experimentOptions, type RunOptions } from "../../../cli/experiment-options";

const saved = () => ["hot-deals-kill", "orders-kill"];
const optionsOf = (...args: string[]) => experimentOptions(args, saved);
const junit = join(tmpdir(), "none-yet", "junit.xml");

describe("the arguments of `npm run experiment`", () => {
    it("ask for a run, with reports for continuous integration if they name files", () => {
        expect(optionsOf()).toEqual({
            all: false,
            lessons: [],
            name: undefined,
            settings: {},
            stack: "local",
            json: false,
            files: { junit: undefined, summary: undefined },
        });
        const args = ["orders-kill", "--set", "variant=seven", "--junit", junit, "--summary", `${junit}.md`, "--json"];
        expect(optionsOf(...args)).toMatchObject({
            name: "orders-kill",
            settings: { variant: "seven" },
            json: true,
            files: { junit, summary: `${junit}.md` },
        });
        expect(optionsOf("--all", "--stack", "cloud")).toMatchObject({ all: true, lessons: [], stack: "cloud" });
        const some = ["--lesson", "gone", "--lesson", "pods", "--lesson", "gone"];
        expect(optionsOf("--all", ...some)).toMatchObject({ all: true, lessons: ["gone", "pods"] });
    });

    it("may ask for something else than a run", () => {
        expect(optionsOf("--list")).toEqual({ list: { json: false, lessons: [] } });
        expect(optionsOf("--list", "--json", "--lesson", "gone")).toEqual({ list: { json: true, lessons: ["gone"] } });
        expect(optionsOf("--status", "--stack", "cloud")).toEqual({ statusOf: "cloud" });
    });

    it("are refused with all their mistakes, before anything is touched", () => {
        const args = ["nonsense", "--all", "--set", "agent.key=x", "--junit", tmpdir(), "--summary", ""];
        expect(() => optionsOf(...args)).toThrow(
            new RegExp(
                [
                    'there is no saved experiment "nonsense"; allowed: hot-deals-kill, orders-kill',
                    "--all applies to all experiments: omit nonsense",
                    "--junit .* is there, but is not a regular file; .*",
                    '--summary "": the name of a file is missing',
                    "--set agent.key would expose a secret; .*",
                ].join("\n"),
            ),
        );
        expect(() => optionsOf("orders-kill", "hot-deals-kill")).toThrow(/name one experiment/);
        expect(() => optionsOf("--set", "radius")).toThrow("--set [hidden] is not KEY=VALUE");
        expect(() => optionsOf("--set", "agent.kye=hush", "--stack", "cloud")).toThrow(
            /^--set agent\.kye would expose .*: npx pulumi config set --secret agent\.key --stack cloud$/,
        );
        expect(() => optionsOf("--set", "nmespace=shop")).toThrow(
            "--set nmespace: there is no such setting; did you mean namespace?; " +
                "omit --set nmespace, and use --set namespace=VALUE",
        );
        expect(() => optionsOf("--set", "colour=hush")).toThrow(
            /^--set colour: .*; allowed: variant, .*; omit --set colour$/,
        );
        expect(() => optionsOf("--set", "namespace=Bad_Name")).toThrow(
            /^--set namespace=Bad_Name: allowed: .*; use --set namespace=bad-name$/,
        );
        expect(() => optionsOf("--fast")).toThrow(/unknown option '--fast'/);
    });

    it("may ask for a series of runs, and when it is decided", () => {
        const repeat = (...args: string[]) => (optionsOf("orders-kill", ...args) as RunOptions).repeat;
        expect(repeat("--times", "10")).toEqual({ times: 10, until: undefined, isContinued: false });
        expect(repeat("--times", "400", "--until", "97.5%", "--continue")).toEqual({
            times: 400,
            until: 0.975,
            isContinued: true,
        });
    });

    it("have the command that goes on with an interrupted series", () => {
        const { continuation } = optionsOf(
            "orders-kill",
            "--times",
            "10",
            "--set",
            "experiment.radius=50%",
        ) as RunOptions;
        expect(continuation).toBe(
            "npm run experiment -- orders-kill --times 10 --set experiment.radius=50% --continue",
        );
    });

    it.each([
        [["--until", "95%", "--continue"], "--until is for a series of runs: add --times\n--continue is for"],
        [["--times", "1"], "--times 1: allowed: a whole number from 2 to 9999"],
        [["--times", "1e3"], "--times 1e3: allowed: a whole number"],
        [["--times", "3", "--until", "100%"], "--until 100%: allowed: a percentage above 0% and below 100%"],
        [["--times", "3", "--until", "99.99999999%"], "--until 99.99999999%: allowed: a percentage above 0%"],
        [["--times", "3", "--until", "95"], "--until 95: allowed: a percentage"],
        [
            ["--times", "10", "--until", "95%"],
            "10 runs cannot show it; it takes 158 that all pass; allowed: --times of at",
        ],
        [["--times", "3", "--all"], "--times repeats one experiment: omit --all"],
        [["--times", "3", "--set", "experiment.run=nightly"], "--times names each run: omit --set experiment.run"],
    ])("cannot ask for a series by %j", (args, mistake) => expect(() => optionsOf(...args)).toThrow(mistake));

    it("cannot choose a lesson that does not exist, or for one run", () =>
        expect(() => optionsOf("orders-kill", "--lesson", "lost")).toThrow(
            /there is no lesson "lost"; allowed: gone, .*\n--lesson chooses among several: add --all or --list/,
        ));

    it("cannot ask for a report of nothing", () => {
        expect(() => optionsOf("--list", "--junit", junit)).toThrow(
            "--junit reports runs, and --list runs nothing: omit one of them",
        );
        expect(() => optionsOf("--status", "--summary", junit)).toThrow(/--summary .* --status runs nothing/);
    });
});
