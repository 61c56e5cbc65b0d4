/** What a program needs that runs experiments in its stack. */
export type { Check } from "./checks/registry";
export type { ServiceReference } from "./checks/service";
export type { Cluster } from "./cluster/client";
export { problemOf } from "./cluster/problem";
export { type ExperimentDefinition, mistakesIn } from "./definition/definition";
export { type DefinedExperiment, planOfArguments } from "./definition/arguments";
export { type Plan, type PlanArgs, planOf } from "./definition/plan";
export { Experiment, type ExperimentArgs, type ExperimentPlace } from "./experiment";
export { holderOf } from "./identity";
export { endRuns } from "./lifecycle/end-runs";
export { type LeaseOwner, leasesOf } from "./lifecycle/lease";
export type { ExperimentPrograms } from "./programs";
export type { Right } from "./cluster/rights";
export { permissionsOf } from "./permissions/permissions";
export { rolesManifest } from "./permissions/roles";
export type { Conclusion } from "./report/journal-schema";
export type { Verdict } from "./report/verdict";
