/** What a program needs that runs experiments in its stack. */
export type { Action } from "./actions/registry";
export type { Attack } from "./attacks/registry";
export type { Check } from "./checks/registry";
export type { ServiceReference } from "./checks/service";
export { labels } from "./cluster/labels";
export { problemOf } from "./cluster/problem";
export type { AttackDefinition, ExperimentDefinition } from "./definition/definition";
export { type DefinedExperiment, planOfArguments } from "./definition/arguments";
export { type Plan, type PlanArgs, planOf } from "./definition/plan";
export { Experiment, type ExperimentArgs, type ExperimentOptions } from "./experiment";
export { holderOf } from "./stash";
export type { ExperimentPrograms } from "./programs";
export type { Right } from "./cluster/resources";
export { permissionsOf } from "./permissions/permissions";
export { type RolesArgs, rolesManifest, type Subject } from "./permissions/roles";
export type { Duration } from "./duration";
export type { Conclusion, ConcludedCheck, ConcludedEstablished } from "./report/conclusion";
export type { Verdict } from "./report/verdict";
