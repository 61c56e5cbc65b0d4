import type { StackConfiguration } from "../configuration/read";
import { guessedKind, type PlacedObject, placeOf, withKindsIn } from "../manifest/kinds";
import { readObjects } from "../manifest/read";
import { clusterWide } from "./builtin";
import { outsideOf } from "./foreign-objects";

/**
 * What the agent has outside of the stack's namespaces, as far as that is known without a cluster. Each update reads
 * these objects: see `requireNoForeignObjects`.
 *
 * @throws Error if the agent's manifest cannot be read
 */
export async function outsideOfAgent({
    agent,
    namespace,
}: Pick<StackConfiguration, "agent" | "namespace">): Promise<PlacedObject[]> {
    if (agent?.install === "builtin") return clusterWide(namespace);
    if (agent?.install !== "manifest") return [];
    const objects = await readObjects(agent.manifest!).catch((error: Error) => {
        throw new Error(`agent.manifest is "${agent.manifest}", which ${error.message}`);
    });
    const lookUp = withKindsIn(objects, async () => undefined);
    const placed = objects.map(async (object) => {
        const kind = (await lookUp(object.apiVersion, object.kind)) ?? guessedKind(object);
        return placeOf(object, kind, agent.namespace);
    });
    return outsideOf([agent.namespace, namespace], await Promise.all(placed));
}
