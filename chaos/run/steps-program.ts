/**
 * Runs one step as the process that a command resource starts. Prints its result to standard output as JSON, and its
 * progress to standard error. A step that fails says why in plain words and exits with code 1; so does one that ends
 * without a result, which the next one must not take for one.
 */
import { settling } from "../values/async";
import { type Cluster, type ClusterAccess, connect } from "../cluster/client";
import { explain } from "../cluster/problem";
import { withoutControls } from "../values/quoted";
import { beginBeside } from "./beside";
import { check } from "./check";
import type { Plan } from "../definition/plan";
import {
    fromVariable,
    inputFrom,
    maxVariableLength,
    printed,
    printingAgain,
    type Step,
    type StepName,
    variables,
} from "./contract";
import { undoWith } from "./rejected-login";
import { labelTargets } from "./label-targets";
import { endAttacksStep, recovery } from "./recovery";
import { sayWithin } from "./step-progress";
import { outputIfSameCluster } from "./same-cluster";
import { steadyState } from "./steady-state";

const steps: { [N in StepName]: Step<N> } = {
    "steady-state": steadyState,
    "begin-beside": beginBeside,
    "label-targets": labelTargets,
    check,
    recovery,
    "end-attacks": endAttacksStep,
};

/** Room for the error that ends a step, in characters. */
const maxErrorLength = 5_000;
const say = sayWithin(maxVariableLength - 4 * maxErrorLength, (line) => process.stderr.write(withoutControls(line)));

const told = (error: unknown) => withoutControls(explain(error)).slice(0, maxErrorLength);

function accessOf({ context }: Plan): ClusterAccess {
    const kubeconfig = process.env[variables.kubeconfig];
    return { context, kubeconfig: kubeconfig && fromVariable(kubeconfig) };
}

async function main(name: string | undefined): Promise<unknown> {
    if (name !== printingAgain && !(name !== undefined && name in steps))
        throw new Error(`"${name ?? ""}" is not a step of an experiment; there are: ${Object.keys(steps).join(", ")}`);
    const { plan, stack, ...given } = inputFrom(process.env);
    const access = accessOf(plan);
    if (name === printingAgain) {
        const earlier = process.env.PULUMI_COMMAND_STDOUT ?? "";
        process.stdout.write(await outputIfSameCluster(access, plan, earlier), () => process.exit(0));
        return new Promise(() => undefined);
    }
    const answersFile = process.env[variables.answersFile] || undefined;
    const run = (cluster: Cluster): Promise<unknown> =>
        steps[name as StepName]({ plan, stack, cluster, say, answersFile }, given as never);
    return name === "recovery" || name === "end-attacks" ? undoWith(access, run, say) : run(connect(access));
}

// The last argument: a program that is read from standard input is not among them.
settling(() => main(process.argv.at(-1))).then(
    // Exits only when all is written: a pipe would be cut off.
    (result) => process.stdout.write(`${printed(result)}\n`, () => process.exit(0)),
    (error: unknown) => process.stderr.write(`${told(error)}\n`, () => process.exit(1)),
);
