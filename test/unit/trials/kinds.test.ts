import { expect, it } from "vitest";
import { resources } from "../../../chaos/cluster/resources";
import { actionKindOf, actionKinds } from "../../../chaos/kinds/actions/registry";
import { attackKinds, exampleAttacks, objectTypeOf } from "../../../chaos/kinds/attacks/registry";
import { kinds } from "../../trials/kinds";
import { usualExperiment } from "../../trials/shop";
import { loadSavedExperiments } from "../support/saved-experiments";

it("each attack that is no NetworkPolicy, and each action that must be undone, has a trial", () => {
    const names = kinds.map(({ experiment = usualExperiment }) => experiment);
    const tried = loadSavedExperiments()
        .filter(({ name }) => names.includes(name))
        .flatMap(({ attacks = [], actions = [] }) => [...attacks, ...actions])
        .map(({ kind }) => kind);
    const isPolicy = (kind: string) =>
        exampleAttacks.some((one) => one.kind === kind && objectTypeOf(one) === resources.networkPolicy);
    const undone = actionKinds.filter((kind) => {
        const { beside, restores } = actionKindOf({ kind });
        return beside ?? restores;
    });
    const missing = [...attackKinds.filter((kind) => !isPolicy(kind)), ...undone].filter(
        (kind) => !tried.includes(kind),
    );
    expect(missing).toEqual([]);
});
