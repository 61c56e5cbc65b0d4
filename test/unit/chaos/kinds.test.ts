import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { ActionKind } from "../../../chaos/kinds/actions/action-kind";
import { type Action, actionKinds, exampleActions } from "../../../chaos/kinds/actions/registry";
import type { AttackKind } from "../../../chaos/kinds/attacks/attack-kind";
import { jobParts, loansOfAttacks } from "../../../chaos/kinds/attacks/job-parts";
import {
    type Attack,
    attackKindOf,
    attackKinds,
    exampleAttacks,
    resourcesOfAttacks,
} from "../../../chaos/kinds/attacks/registry";
import { checkKinds, exampleChecks } from "../../../chaos/kinds/checks/registry";
import { resources } from "../../../chaos/cluster/resources";
import { byWitness } from "../../../chaos/proof/trials";
import { definitionSchema } from "../../../chaos/definition/definition";

const project = resolve(__dirname, "..", "..", "..");
const filesIn = (...parts: string[]) =>
    parts.flatMap((part) =>
        readdirSync(join(project, part), { recursive: true, encoding: "utf8" })
            .filter((file) => file.endsWith(".ts") && !/(^|\/)(node_modules|dist|test)\//.test(file))
            .map((file) => join(part, file)),
    );
const textOf = (file: string) => readFileSync(join(project, file), "utf8");
const sources = filesIn("chaos", "cli", "components", "docs", "experiments", "services");
const names = [...attackKinds, ...checkKinds, ...actionKinds].join("|");
const asksForName = new RegExp(
    `\\bkind\\w* [=!]== "(${names})"|"(${names})" [=!]== |case "(${names})":|in \\w*[kK]inds\\b`,
);

it("only the kinds themselves compare with the name of a kind of attack, check or action", () => {
    const outside = sources.filter((file) => !/^chaos\/kinds\//.test(file));
    const asking = outside.filter((file) => asksForName.test(textOf(file)));
    expect(asking).toEqual([]);
});

it("no kind makes or changes what the sweep cannot end: that does not compile", () => {
    const made: Pick<AttackKind<Attack>, "parts" | "restores"> = {
        // @ts-expect-error: it would remove the account of the deadline Job before the Job
        parts: [resources.service, resources.serviceAccount],
        // @ts-expect-error: it restores only the types that `resources` has
        restores: { resource: { apiGroup: "apps", resource: "statefulsets", kind: "StatefulSet" }, named: "kind" },
    };
    const changed: Pick<ActionKind<Action>, "restores"> = {
        // @ts-expect-error: nothing restores what an action has set in a pod
        restores: { resource: resources.pod, named: "kind" },
    };
    expect([made, changed]).toBeDefined();
});

it("each kind has examples, which a definition may have", () => {
    const target = "k8s.deployment=hot-deals";
    const definition = {
        hypothesis: "It holds.",
        attacks: exampleAttacks.map((attack) => ({ ...attack, target })),
        checks: exampleChecks.map((check, index) => ({ ...check, name: `check-${index}` })),
        actions: exampleActions,
    };
    // Names are in capitals, for the docs.
    const named = JSON.stringify(definition).replace(/"(?!POST)[A-Z]+"/g, (name) => name.toLowerCase());
    expect(definitionSchema.safeParse(JSON.parse(named)).error?.issues).toBeUndefined();
    const kindsIn = (examples: readonly { kind: string }[]) => [...new Set(examples.map(({ kind }) => kind))];
    expect(kindsIn(exampleAttacks)).toEqual(attackKinds);
    expect(kindsIn(exampleChecks)).toEqual(checkKinds);
    expect(kindsIn(exampleActions)).toEqual(actionKinds);
});

/** Where an attack may be proven. */
const target = {
    ...{ namespace: "demo", pod: "web", uid: "web", container: "c", containerId: "c" },
    ...{ address: "10.0.0.1", addresses: ["10.0.0.1"], ports: [80] },
};

it.each(exampleAttacks)("something is tried or reported that shows %j", (attack) => {
    const kind = attackKindOf(attack);
    const { trials, isAlone } = byWitness({ proof: kind.proof(attack), chosen: { targets: [target] } });
    const isTried = trials.some(({ during }) => during === "fails");
    expect(kind.reported !== undefined || !isAlone || isTried).toBe(true);
});

it("the Job has a part for each attack that gives it something, takes rights for it or awaits its reports", () => {
    const hasPart = (attack: Attack) => {
        const kind = attackKindOf(attack);
        return kind.forJob !== undefined || kind.rightsInJob !== undefined || kind.reported !== undefined;
    };
    const kinds = exampleAttacks.filter(hasPart).map(({ kind }) => kind);
    expect([...new Set(kinds)]).toEqual(Object.keys(jobParts));
});

it("each type of object that attacks change has a loan, by which the end of a run restores it", () => {
    const lent = loansOfAttacks.map(({ resource }) => resource);
    expect(new Set(lent)).toEqual(new Set(resourcesOfAttacks));
});

const saved = "experiments/saved";

describe.each<[folder: string, kinds: readonly string[], onCluster: readonly string[]]>([
    ["attacks", attackKinds, [saved]],
    ["checks", checkKinds, [saved, "test/e2e"]],
    ["actions", actionKinds, [saved]],
])("of the %s", (folder, kinds, onCluster) => {
    const missingIn = (folders: readonly string[]) => {
        const texts = filesIn(...folders).map(textOf);
        return kinds.filter((kind) => !texts.some((text) => text.includes(`kind: "${kind}"`)));
    };

    it(`each kind has a test in test/unit/chaos/kinds/${folder}/`, () =>
        expect(missingIn([`test/unit/chaos/kinds/${folder}`])).toEqual([]));

    it(`each kind is done on a real cluster, from ${onCluster.join(" or ")}/`, () =>
        expect(missingIn(onCluster)).toEqual([]));
});
