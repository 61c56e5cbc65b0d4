import { connect, type Cluster, reasonOf } from "../../shared/kubernetes";
import { type Plan, planFromEnvironment } from "../plan";

/**
 * Runs one step of an experiment as the process that a command resource started: its result goes to standard output
 * as JSON, its progress to standard error; a step that fails says why in plain words and ends with code 1.
 */
export function runStep<T>(step: (plan: Plan, cluster: Cluster) => Promise<T>): void {
    main(step).then(
        // Left to end by itself, standard output would be cut off where it is a pipe.
        (result) => process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0)),
        (error: unknown) => process.stderr.write(`${reasonOf(error)}\n`, () => process.exit(1)),
    );
}

async function main<T>(step: (plan: Plan, cluster: Cluster) => Promise<T>): Promise<T> {
    const plan = planFromEnvironment();
    return step(plan, connect(plan.context));
}

/** Tells the person who watches the update how the step gets on. */
export function say(message: string): void {
    process.stderr.write(`${message}\n`);
}
