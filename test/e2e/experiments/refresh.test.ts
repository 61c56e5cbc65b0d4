import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { giveBack, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";
const enabled = { ...quick, "experiment.enabled": "true" };
const updates = 10;

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

/** The journals of the namespace's runs, as they are on the disk. */
function journals(): Record<string, string> {
    const folder = dirname(stack.journal().conclusion.journal);
    const own = readdirSync(folder).filter((file) => file.endsWith(".json"));
    const texts = own.map((file) => [file, readFileSync(join(folder, file), "utf8")] as const);
    return Object.fromEntries(texts.filter(([, text]) => text.includes(`"namespace": "${stack.namespace}"`)));
}

/** When pods of the shop were made: a kill would replace one. */
async function pods(): Promise<string[]> {
    const { items } = await stack.cluster.core.listNamespacedPod({ namespace: stack.namespace, labelSelector: "app" });
    return items.map(({ metadata }) => `${metadata!.name} ${metadata!.uid}`).sort();
}

// As Pulumi Cloud's drift remediation and the Kubernetes operator do it.
describe.each<[kind: string, settings: Record<string, string>]>([
    ["blackhole", {}],
    ["kill", { "experiment.name": "hot-deals-kill" }],
    ["fault", { "experiment.name": "hot-deals-slow" }],
])("scheduled updates with --refresh beside an enabled %s that has its verdict", (_kind, settings) => {
    beforeAll(() => stack.run({ ...enabled, ...settings, "experiment.until": "verdict" }));
    afterAll(() => stack.toDefaults());

    // They may find that the end of the attack has deleted objects, and make these again, without an effect.
    it(
        `attack nobody, run no step and write no journal, ${updates} times in a row`,
        { timeout: 1_200_000 },
        async () => {
            const [kept, there] = [journals(), await pods()];
            const changed: string[] = [];
            for (let update = 1; update <= updates; update++) {
                const { changes } = await stack.refresh();
                expect(await stack.targets()).toEqual([]);
                changed.push(...changes.map(({ op, type, name }) => `${op} ${type.split(":").at(-1)} ${name}`));
            }
            expect(changed.filter((change) => !/^create (?!Command)/.test(change))).toEqual([]);
            expect(journals()).toEqual(kept);
            expect(await pods()).toEqual(there);
            expect((await stack.products()).good).toBe(true);
        },
    );
});
