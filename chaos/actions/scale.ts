import * as z from "zod";
import { nameSchema } from "../texts";
import { resources } from "../cluster/resources";
import type { ActionKind } from "./kind";
import { setUntilUndone } from "./workload";

/** Scales a Deployment, as `kubectl scale` does, until the run is undone. */
export interface ScaleAction {
    kind: "scale";
    /** Name of the Deployment. */
    deployment: string;
    /** Number of pods, 0 to 100. */
    replicas: number;
}

const resource = resources.deployment;

export const scale = {
    schema: z.strictObject({
        kind: z.literal("scale"),
        deployment: nameSchema("a Deployment name"),
        replicas: z.int().min(0).max(100),
    }),
    example: { kind: "scale", deployment: "NAME", replicas: 2 },
    describe: ({ deployment, replicas }) => `scale ${deployment} to ${replicas}`,
    rights: () => [],
    workload: ({ deployment: name }) => ({ kind: "Deployment", name }),
    restores: { resource, nameIn: ({ deployment }) => deployment },
    perform: ({ deployment: name, replicas }, { cluster, namespace }) =>
        setUntilUndone(cluster, { resource, namespace, name }, { replicas }),
} satisfies ActionKind<ScaleAction>;
