import type { Right } from "../cluster/resources";
import type { Plan } from "../definition/plan";
import { merged } from "./merge";
import { rightsOfRun } from "./of-run";

/**
 * The smallest rights with which a person runs experiments by `pulumi up`, and undoes them: those that they need, then
 * those that they can do without, each with what is lost then.
 *
 * @param plans of the experiments
 * @param others what the program that runs them needs besides. @default nothing
 */
export function permissionsOf(plans: readonly Plan[], others: readonly Right[] = []): Right[] {
    return merged([...plans.flatMap(rightsOfRun), ...others]);
}
