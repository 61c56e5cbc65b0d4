/** What a program needs that runs experiments in its stack. */
export type { ServiceReference } from "./checks/service";
export type { Cluster } from "./cluster/client";
export { problemOf } from "./cluster/problem";
export { type ExperimentDefinition, mistakesIn } from "./definition/definition";
export { type Plan, type PlanArgs, planOf } from "./definition/plan";
export { Experiment, type ExperimentArgs, type ExperimentPrograms, holderOf } from "./experiment";
export { endRuns } from "./lifecycle/end-runs";
export { isOfEarlierVersion } from "./lifecycle/lease";
export type { Right } from "./cluster/rights";
export { permissionsOf } from "./permissions/permissions";
export { rolesManifest } from "./permissions/roles";
export type { Conclusion } from "./report/journal-schema";
export { previewTargets } from "./targets/preview";
