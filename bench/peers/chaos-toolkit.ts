import { existsSync } from "node:fs";
import { join } from "node:path";
import { cachePaths } from "../../toolchain/parts/paths";
import { runCommand, tryCommand } from "../../toolchain/run-command";

/** As of https://chaostoolkit.org, from PyPI. */
const packages = ["chaostoolkit==1.19.0", "chaostoolkit-lib==1.44.0", "chaostoolkit-kubernetes==0.39.0"];
const folder = () => join(cachePaths().cache, "chaostoolkit-1.19.0");

/** The path of the command, which is installed first if it is missing. Undefined if this machine has no Python. */
export async function chaosToolkit(say: (line: string) => void): Promise<string | undefined> {
    const command = join(folder(), "bin", "chaos");
    if (existsSync(command)) return command;
    const hasPython = await tryCommand("python3", ["-m", "venv", folder()]).then(
        ({ code }) => code === 0,
        () => false,
    );
    if (!hasPython) {
        say("Chaos Toolkit is left out: `python3 -m venv` does not work here");
        return undefined;
    }
    say("installing Chaos Toolkit");
    await runCommand(join(folder(), "bin", "pip"), ["install", "--quiet", ...packages]);
    return command;
}

/** The same question, as its documentation says it would be asked; `seconds` is the window. */
export function chaosToolkitExperiment(namespace: string, address: string, seconds: number): object {
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
    const ofApi = { label_selectors: { app: "api" } };
    const listed = {
        name: "products-are-listed",
        type: "probe",
        tolerance: 200,
        provider: { type: "http", url: `${address}/products`, timeout: 5 },
    };
    return {
        title: "Products are listed while api is cut off",
        description: "As the experiment of bench/peers/program.",
        "steady-state-hypothesis": { title: "Products are listed", probes: [listed] },
        method: [
            networking("deny_all_egress", ofApi),
            { ...networking("deny_all_ingress", ofApi), pauses: { after: seconds } },
        ],
        rollbacks: [networking("remove_deny_all_ingress", {}), networking("remove_deny_all_egress", {})],
    };
}
