import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { actionKindOf, actionKinds } from "../../../chaos/kinds/actions/registry";
import { beginsAtTargets } from "../../../chaos/kinds/attacks/attack-kind";
import {
    type Attack,
    attackKindOf,
    attackKinds,
    exampleAttacks,
    objectTypeOf,
    onlyReadyOf,
} from "../../../chaos/kinds/attacks/registry";
import { checkKindOf, checkKinds } from "../../../chaos/kinds/checks/registry";
import { type Resource, resources, type Right } from "../../../chaos/cluster/resources";

const project = resolve(__dirname, "..", "..", "..");
const every: readonly string[] = [...attackKinds, ...checkKinds, ...actionKinds];

/** The kinds of attack of which an example is so. */
const attacksThat = (are: (attack: Attack) => boolean) =>
    attackKinds.filter((kind) => exampleAttacks.some((attack) => attack.kind === kind && are(attack)));
const thatAre = (type: Resource) => attacksThat((attack) => objectTypeOf(attack) === type);

const policies = thatAre(resources.networkPolicy);
const others = attackKinds.filter((kind) => !policies.includes(kind));
const onlyReady = attackKinds.filter(onlyReadyOf);
const sparing = attacksThat((attack) => attackKindOf(attack).sparesOthers === true);
/** No action may take their targets away. */
const lasting = attacksThat((attack) => !attackKindOf(attack).proof(attack).deleted);
const areToExec = (rights: Right[] = []) => rights.some(({ resource }) => resource === "pods/exec");
const withExec = attacksThat((attack) => {
    const kind = attackKindOf(attack);
    return beginsAtTargets(kind.proof(attack)) || areToExec(kind.rights?.("demo"));
});
const withoutExec = attackKinds.filter((kind) => !withExec.includes(kind));
const withExecInJob = attacksThat((attack) => areToExec(attackKindOf(attack).rightsInJob?.("object", attack)));
const undoneActions = actionKinds.filter((kind) => {
    const { beside, restores } = actionKindOf({ kind });
    return (beside ?? restores) !== undefined;
});
const trials = checkKinds.filter((kind) => checkKindOf({ kind }).isTrial);
const states = checkKinds.filter((kind) => !trials.includes(kind));

const experiments = "docs/experiments.md";
const troubleshooting = "docs/troubleshooting.md";
const permissions = "docs/permissions.md";

it.each<[file: string, from: string, to: string, kinds: readonly string[]]>([
    [experiments, "exists: a NetworkPolicy", "a ConfigMap", policies],
    [experiments, "a ConfigMap that tells the Job", "proxy's pod", thatAre(resources.configMap)],
    [experiments, "proxy's pod", "6. `end-attacks`", thatAre(resources.pod)],
    [experiments, "and with it its whole pod,", "It chooses only ready", sparing],
    [experiments, "| attack ", "The witness connects", attackKinds],
    [experiments, "runs nothing in the targets:", "Add a container", withoutExec],
    [experiments, "- for checks", "they read a state", states],
    ["docs/experiment-reference.md", "replace or remove targets", "which pods are `peers`", lasting],
    ["docs/networks.md", "# ", "are NetworkPolicies", policies],
    [permissions, "stay unproven outward", "do not need them", withoutExec],
    [permissions, "positive-control). A", "needs them for its programs", withExecInJob],
    [permissions, "they are chosen later: with a", "can run commands", withExecInJob],
    [troubleshooting, "undo the attacks by hand", "## Updates", [...attackKinds, ...undoneActions]],
    [troubleshooting, "`experiment.includeNotReady` to `true`.", "always need ready pods", onlyReady],
    [troubleshooting, "### attack-not-held", "### witness-silent", attackKinds],
    [troubleshooting, "### attack-not-proven", "do not need them", others],
    [troubleshooting, "A policy of another kind", "### probe-failed", others],
    ["chaos/README.md", "**Nothing privileged.**", "Each run has a Job", attackKinds],
    ["chaos/README.md", "namespace. For a", "to run commands", withExecInJob],
    ["chaos/definition/definition.ts", "may be chosen, too. Not for", "@default", onlyReady],
    ["components/configuration/settings.ts", "that are not ready. Not for", '",', onlyReady],
])("%s, from %j to %j, names each kind that it should, and no other", (file, from, to, kinds) => {
    const [, ...rest] = readFileSync(join(project, file), "utf8").split(from);
    const [part, ...others] = rest.join(from).split(to);
    expect(others).not.toEqual([]);
    const named = [...part!.matchAll(/`(\w+)`/g)].map(([, name]) => name!).filter((name) => every.includes(name));
    expect([...new Set(named)].sort()).toEqual([...kinds].sort());
});
