import { existsSync } from "node:fs";
import { chaosReport, reportOptions } from "../chaos/cli/report";
import { shopCalls } from "../components/shop/calls";
import { reportsFolder } from "../experiments/reports-folder";

/** `chaos-report` that knows the shop's calls, and reads the journals of its runs if it is given none. */
export async function report(
    args: string[],
    output: Pick<Console, "log" | "error"> = console,
    folder = reportsFolder,
): Promise<number> {
    const given = reportOptions(args);
    if ("help" in given || given.paths.length > 0) return chaosReport(args, output, shopCalls);
    const completed = [...args, folder];
    const options = reportOptions(completed);
    if ("help" in options || options.mistakes.length > 0 || existsSync(folder))
        return chaosReport(completed, output, shopCalls);
    output.error(
        `no run was found: there is no ${folder}/ yet. Run an experiment (npm run experiment), or name journals ` +
            "or folders of them",
    );
    return 1;
}

if (require.main === module) void report(process.argv.slice(2)).then((code) => (process.exitCode = code));
