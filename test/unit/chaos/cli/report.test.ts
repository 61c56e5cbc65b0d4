import {
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    utimesSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chaosReport } from "../../../../chaos/cli/report";
import { type Journal, journalVersion } from "../../../../chaos/report/journal-schema";
import { failed, passed } from "../report/runs";
import { count } from "../report/support";

let folder: string;
const at = (name: string) => join(folder, name);
const start = passed.startedAt;

beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "chaos-report-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Keeps a journal. @param after when its run began, in milliseconds after the others */
function keep(name: string, journal: Journal, { run = "1", after = 0 } = {}): string {
    const time = new Date(start + after).toISOString().replace(/[-:.]/g, "");
    const path = at(`${name}-${run}-${time}-0a1b2c3d.json`);
    const times = { startedAt: start + after, endedAt: start + after + 1 };
    writeFileSync(path, JSON.stringify({ ...journal, ...times, plan: { ...journal.plan, run } }));
    return path;
}

/** Runs `chaos-report`. @returns its exit code and what it printed */
async function report(...args: string[]): Promise<{ code: number; log: string; error: string }> {
    const printed = { log: "", error: "" };
    const code = await chaosReport(args, {
        log: (line) => (printed.log += line),
        error: (line) => (printed.error += line),
    });
    return { code, ...printed };
}

const written = (name = "junit.xml") => readFileSync(at(name), "utf8");

describe("`chaos-report`", () => {
    it("turns the journals of a folder into both reports, the oldest first", async () => {
        keep("second", failed.journal!, { after: 1_000 });
        keep("first", passed.journal!);
        const { code, log } = await report("--junit", at("junit.xml"), "--summary", at("out/summary.md"), folder);
        expect(code).toBe(1);
        expect(log).toBe(`1 PASSED, 1 FAILED\nWrote ${at("junit.xml")} and ${at("out/summary.md")}`);
        expect([...written().matchAll(/<testsuite id="\d" name="([^"]*)"/g)].map(([, name]) => name)).toEqual([
            "departments-scaled-in-time",
            "hot-deals-blackhole",
        ]);
        expect(written("out/summary.md")).toContain("1 PASSED, 1 FAILED");
    });

    it("exits with 0 if all runs passed, and names the journal that it read", async () => {
        const path = keep("first", passed.journal!);
        expect((await report("--junit", at("junit.xml"), path)).code).toBe(0);
        expect(written()).toContain(`name="journal" value="${path}"`);
    });

    it("reads each journal once", async () => {
        const path = keep("first", passed.journal!);
        expect((await report("--junit", at("junit.xml"), path, folder, relative(process.cwd(), path))).code).toBe(0);
        expect(count(written(), /<testsuite /g)).toBe(1);
    });

    it("refuses journals of other versions, unless other runs are asked for", async () => {
        const path = keep("first", { ...passed.journal!, schema: journalVersion - 1 } as never);
        for (const named of [path, folder])
            expect(await report("--junit", at("junit.xml"), named)).toEqual({
                code: 2,
                log: "",
                error:
                    `${path} is a journal of form ${journalVersion - 1}, and this version of the package reads form ` +
                    `${journalVersion}: run the experiment again, or use the version that wrote the journal` +
                    "\nSee its --help",
            });
        expect(existsSync(at("junit.xml"))).toBe(false);
        utimesSync(path, 0, 0);
        keep("second", passed.journal!, { after: 1_000 });
        const since = new Date(start).toISOString();
        expect(await report("--junit", at("junit.xml"), "--since", since, folder)).toMatchObject({ code: 0 });
    });

    it("can choose the runs since a time, or of a name", async () => {
        keep("first", failed.journal!, { run: "first" });
        keep("second", passed.journal!, { run: "second", after: 60_000 });
        const since = new Date(start + 30_000).toISOString();
        expect(await report("--junit", at("junit.xml"), "--since", since, folder)).toMatchObject({ code: 0 });
        expect(await report("--junit", at("junit.xml"), "--run", "second", folder)).toMatchObject({ code: 0 });
        expect(await report("--junit", at("junit.xml"), "--run", "first", folder)).toMatchObject({ code: 1 });
    });

    it("reports an error if no run is found: a report without tests would look good", async () => {
        expect(await report("--junit", at("junit.xml"), "--run", "42", folder)).toMatchObject({ code: 1 });
        expect(written()).toContain(`no run named 42 was found in ${folder}`);
        expect(written()).toContain('errors="1"');
    });

    it("reports a run whose journal is broken as one without a verdict, and leaves out other files", async () => {
        keep("first", passed.journal!);
        writeFileSync(at("package.json"), "{}");
        writeFileSync(at("trials.jsonl"), "");
        writeFileSync(at("killed-1-20261121T101500123Z-0a1b2c3d.json"), "");
        expect(await report("--summary", at("summary.md"), folder)).toMatchObject({ code: 1 });
        expect(written("summary.md")).toContain("1 PASSED, 1 no verdict");
        expect(written("summary.md")).toMatch(/\*\*killed-1\*\* no verdict: .* it is not a JSON object/);
        utimesSync(at("killed-1-20261121T101500123Z-0a1b2c3d.json"), 0, 0);
        const since = new Date(start).toISOString();
        expect(await report("--summary", at("summary.md"), "--since", since, folder)).toMatchObject({ code: 0 });
    });

    it("writes the page of all runs and a badge also if runs failed, and refuses no other version", async () => {
        const path = keep("first", failed.journal!);
        keep("second", passed.journal!, { after: 1_000 });
        const other = keep("third", { ...passed.journal!, schema: journalVersion - 1 } as never, { after: 2_000 });
        writeFileSync(at("killed-1-20261121T101500123Z-0a1b2c3d.json"), "");
        mkdirSync(at("unread-1-20261121T101500123Z-0a1b2c3d.json"));
        const args = ["--index", at("site/index.html"), "--badge", at("badge.svg")];
        expect(await report(...args, folder)).toMatchObject({
            code: 0,
            log: expect.stringMatching(/^1 PASSED, 1 FAILED, 3 no/),
        });
        expect(written("site/index.html")).toContain(`href="../${basename(path).replace(/json$/, "html")}"`);
        expect(written("site/index.html")).toContain(`${other} is a journal of form ${journalVersion - 1}`);
        expect(written("badge.svg")).toContain(">1 of 5 passed</text>");
        expect(await report("--junit", at("junit.xml"), ...args, folder)).toMatchObject({ code: 2 });
        expect(await report(...args, "--run", "none", path)).toMatchObject({ code: 1 });
        expect((await report("--index", at("a"), "--badge", at("a"), "--junit", at("b"), path)).error).toMatch(
            /^--index and --badge name the same file; name two/,
        );
    });

    it("makes all reports of 200 runs within 2 s", async () => {
        for (let index = 0; index < 200; index++)
            keep(`experiment-${index % 8}`, passed.journal!, { run: `${index}`, after: index * 3_600_000 });
        const files = { junit: "junit.xml", summary: "summary.md", index: "index.html", badge: "badge.svg" };
        const args = Object.entries(files).flatMap(([option, file]) => [`--${option}`, at(file)]);
        // Of this process: others may keep the machine busy.
        const before = process.cpuUsage();
        expect(await report(...args, folder)).toMatchObject({ code: 0, log: expect.stringMatching(/^200 PASSED/) });
        const { user, system } = process.cpuUsage(before);
        expect((user + system) / 1_000).toBeLessThan(2_000);
    });

    it("lists what was tried if nothing is to be written, and exits with 0 also if runs failed", async () => {
        expect(await report(folder)).toEqual({ code: 1, log: "", error: `no run was found in ${folder}` });
        keep("first", failed.journal!);
        keep("second", passed.journal!, { after: 1_000 });
        const { code, log } = await report(folder);
        expect(code).toBe(0);
        expect(log.split("\n")).toEqual([
            "1 PASSED, 1 FAILED",
            expect.stringMatching(/^CALLER +CALLEE +TRIED +RUNS +VERDICT +AGE +EXPERIMENT$/),
            expect.stringMatching(/^– +e2e-model\/hot-deals +blackhole, scale +2 +FAILED +\d+ \w+ +hot-deals-b/),
            expect.stringMatching(/^– +e2e-model\/toys-bestseller /),
            expect.stringMatching(/^2 edges, 2 tried: 2 FAILED; oldest \d+ \w+$/),
            expect.stringMatching(/^No journal lists the workloads in e2e-model,/),
        ]);
        expect(await report("--tried", at("tried.json"), folder)).toMatchObject({ code: 0 });
        expect(JSON.parse(written("tried.json")).edges).toHaveLength(2);
    });

    it.each<[what: string, args: string[]]>([
        ["the list", []],
        ["the list as JSON", ["--tried", "tried.json"]],
        ["the badge", ["--badge", "badge.svg"]],
    ])("says which journals it cannot read, and why: %s does not", async (_, args) => {
        keep("first", passed.journal!);
        const older = keep("older", { ...passed.journal!, schema: journalVersion - 1 } as never, { after: 1_000 });
        const cutOff = at("killed-1-20261121T101500123Z-0a1b2c3d.json");
        writeFileSync(cutOff, '{"schema":');
        const { code, log, error } = await report(...args.map((one, index) => (index === 1 ? at(one) : one)), folder);
        expect({ code, log }).toEqual({ code: 0, log: expect.stringMatching(/^1 PASSED, 2 no verdict/) });
        expect(error.split("\n").sort()).toEqual([
            `${cutOff} does not have the form of a journal: it is not a JSON object`,
            expect.stringMatching(`^${older} is a journal of form ${journalVersion - 1}, and this version`),
        ]);
    });

    it("knows no day that the month does not have", async () => {
        const { code, error } = await report("--since", "2026-02-31T10:00Z", "--summary", at("x.md"), folder);
        expect({ code, error }).toEqual({
            code: 2,
            error: expect.stringMatching(/^--since 2026-02-31T10:00Z is not a/),
        });
    });

    it("exits with 2 for wrong use, tells all mistakes at once, and writes nothing", async () => {
        const args = ["--since", "2026-11-21T10:15:00", "--run", "1", "--junit", folder, "--summary", at("x.md")];
        writeFileSync(at("other.json"), "{}");
        const { code, log, error } = await report(...args, at("none"), at("other.json/x"), at("other.json"));
        expect({ code, log }).toEqual({ code: 2, log: "" });
        expect(error.split("\n")).toEqual([
            expect.stringMatching(/^--since and --run exclude each other/),
            expect.stringMatching(/^--since 2026-11-21T10:15:00 is not a time with a time zone; example: /),
            expect.stringMatching(/^--junit .* is not a regular file/),
            expect.stringMatching(/none cannot be read \(ENOENT\); name a journal, or a folder of journals$/),
            expect.stringMatching(/other\.json\/x cannot be read \(ENOTDIR\)/),
            expect.stringMatching(/other\.json does not have the form of a journal: schema: /),
            "See its --help",
        ]);
        expect(existsSync(at("x.md"))).toBe(false);
        expect((await report("--junit", at("x.xml"))).error).toMatch(/no journal is named/);
        expect(await report("--xml", at("x.xml"), folder)).toMatchObject({ code: 2 });
    });

    it("exits with 1 if a report cannot be written", async () => {
        keep("first", passed.journal!);
        // In the place of the file that would be renamed.
        mkdirSync(at("junit.xml.unfinished"));
        expect(await report("--junit", at("junit.xml"), folder)).toMatchObject({ code: 1, log: "" });
        expect(readdirSync(folder)).not.toContain("junit.xml");
    });

    it("prints its help", async () => {
        const { code, log } = await report("--help");
        expect(code).toBe(0);
        const options = ["junit", "summary", "index", "badge", "tried", "otlp", "grafana", "since", "run"];
        for (const option of options.map((one) => `--${one}`)) expect(log).toContain(`  ${option} `);
    });
});
