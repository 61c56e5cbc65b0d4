import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bundledFile } from "../../../shared/bundle";

const project = join(__dirname, "..", "..", "..");
const entry = join(project, "experiments", "validate.ts");

/** A run that uses memory again and again, as a long one does, with a V8 that forgets at once what does not run any more. */
const longRun = `
    const { requireBundled, bundledFile } = require("./shared/bundle");
    fs.rmSync(bundledFile(process.argv[1]) + ".compiled", { force: true });
    requireBundled(process.argv[1]);
    const work = (times) => {
        globalThis.memory = Array.from({ length: 400 }, () => new Array(10_000).fill(times));
        gc();
        if (times > 1) setTimeout(work, 1, times - 1);
    };
    work(8);
`;

it("what V8 made of a bundle is kept for the next run, however long the first one was", () => {
    const { status, stderr } = spawnSync("node", ["--expose-gc", "--bytecode-old-age=1", "--eval", longRun, entry], {
        cwd: project,
        encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const bundle = bundledFile(entry);
    // Compiled, all of it is longer than its source.
    expect(statSync(`${bundle}.compiled`).size).toBeGreaterThan(statSync(bundle).size);
});
