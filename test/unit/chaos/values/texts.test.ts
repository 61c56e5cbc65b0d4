import { expect, it } from "vitest";
import { anotherRun } from "../../../../chaos/values/texts";

it.each([
    ["2026-11-26", "'2026-11-26 again'"],
    ["Ada's", `'Ada'"'"'s again'`],
])("the command that starts another run than %s can be pasted into a shell", (run, quoted) =>
    expect(anotherRun({ settings: "experiment.", stack: "local", run })).toBe(
        `Start another run: npx pulumi config set experiment.run ${quoted} --stack local`,
    ),
);
