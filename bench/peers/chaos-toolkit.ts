import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cachePaths } from "../../toolchain/parts/paths";
import { runCommand, tryCommand } from "../../toolchain/run-command";
import type { Command } from "./run-to-end";

/** As of https://chaostoolkit.org, from PyPI. */
const packages = ["chaostoolkit==1.19.0", "chaostoolkit-lib==1.44.0", "chaostoolkit-kubernetes==0.39.0"];
const folder = () => join(cachePaths().cache, "chaostoolkit-1.19.0");
const markIn = (folder: string) => join(folder, "installed");

/** Whether all packages are in a virtual environment: an interrupted installation leaves the command without some. */
export function isInstalledIn(folder: string): boolean {
    try {
        return readFileSync(markIn(folder), "utf8") === packages.join("\n");
    } catch {
        return false;
    }
}

/** The path of the command, which is installed first if it is missing. Undefined if this machine has no Python. */
export async function chaosToolkit(say: (line: string) => void): Promise<string | undefined> {
    const command = join(folder(), "bin", "chaos");
    if (isInstalledIn(folder())) return command;
    const hasPython = await tryCommand("python3", ["-m", "venv", "--clear", folder()]).then(
        ({ code }) => code === 0,
        () => false,
    );
    if (!hasPython) {
        say("Chaos Toolkit is left out: `python3 -m venv` does not work here");
        return undefined;
    }
    say("installing Chaos Toolkit");
    await runCommand(join(folder(), "bin", "pip"), ["install", "--quiet", ...packages]);
    writeFileSync(markIn(folder()), packages.join("\n"));
    return command;
}

/** An attack that cuts pods off, and what is asked meanwhile. */
export interface CutOff {
    namespace: string;
    /** What must answer with status 200. */
    url: string;
    /** How long the attack lasts. */
    seconds: number;
    /** Which pods are cut off. */
    selector: Readonly<Record<string, string>>;
    /** Probes of the hypothesis beside the first, as the tool wants them. @default none */
    moreProbes?: readonly object[];
}

/** The experiment that does this, as the tool's documentation says. */
export function chaosToolkitExperiment({ namespace, url, seconds, selector, moreProbes = [] }: CutOff): object {
    const networking = (func: string, args: object) => ({
        name: func,
        type: "action",
        provider: {
            type: "python",
            module: "chaosk8s.networking.actions",
            func,
            arguments: { ns: namespace, ...args },
        },
    });
    const attacked = { label_selectors: selector };
    const listed = {
        name: "products-are-listed",
        type: "probe",
        tolerance: 200,
        provider: { type: "http", url, timeout: 5 },
    };
    return {
        title: "Products are listed while api is cut off",
        description: "As the experiment of bench/peers/program.",
        "steady-state-hypothesis": { title: "Products are listed", probes: [listed, ...moreProbes] },
        method: [
            networking("deny_all_egress", attacked),
            { ...networking("deny_all_ingress", attacked), pauses: { after: seconds } },
        ],
        rollbacks: [networking("remove_deny_all_ingress", {}), networking("remove_deny_all_egress", {})],
    };
}

/** Probes that the pods that are attacked are there, as many as they should be. */
export const countsPods = (namespace: string, selector: string, count: number) => ({
    name: "attacked-pods-are-there",
    type: "probe",
    tolerance: count,
    provider: {
        type: "python",
        module: "chaosk8s.pod.probes",
        func: "count_pods",
        arguments: { ns: namespace, label_selector: selector, phase: "Running" },
    },
});

/** The command that runs an experiment. @param cwd a folder for its files, which is made */
export function chaosToolkitRun(chaos: string, cwd: string, experiment: object): Command {
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, "experiment.json"), JSON.stringify(experiment));
    const continuously = ["--hypothesis-strategy", "continuously", "--hypothesis-frequency", "1"];
    return { command: chaos, args: ["run", ...continuously, "--rollback-strategy", "always", "experiment.json"], cwd };
}
