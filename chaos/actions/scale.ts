import * as z from "zod";
import { change } from "../cluster/change";
import { dnsSubdomain } from "../cluster/kubernetes-rules";
import { objectApi } from "../cluster/objects";
import { resources } from "../cluster/resources";
import { nameSchema } from "../texts";
import type { ActionKind } from "./kind";
import { describeNumber, replicasIn, scalingOf, scalingTo } from "./scaled";
import { notFound } from "./workload";

/** Scales a Deployment, as `kubectl scale` does, until the run is undone. */
export interface ScaleAction {
    kind: "scale";
    /** Name of the Deployment. */
    deployment: string;
    /** Number of pods, 0 to 100. */
    replicas: number;
}

const resource = resources.deployment;

export const scale: ActionKind<ScaleAction> = {
    schema: z.strictObject({
        kind: z.literal("scale"),
        deployment: nameSchema("a Deployment name", dnsSubdomain),
        replicas: z.int().min(0).max(100),
    }),
    examples: [{ kind: "scale", deployment: "NAME", replicas: 2 }],
    describe: ({ deployment, replicas }) => `scale ${deployment} to ${replicas}`,
    rights: () => [],
    workload: ({ deployment: name }) => ({ kind: "Deployment", name }),
    restores: { resource, named: "deployment" },
    async perform({ deployment: name, replicas }, { cluster, namespace, run }) {
        const object = { resource, namespace, name };
        if (!(await change(objectApi(cluster), object, scalingTo(replicas, run)))) throw new Error(notFound(object));
    },
    async whyNotKept({ deployment: name, replicas }, { cluster, namespace }) {
        const object = { resource, namespace, name };
        const found = await objectApi(cluster).get(object);
        if (found === undefined) return notFound(object);
        // A later action may have scaled it, too.
        return replicasIn(found) === (scalingOf(found)?.set ?? replicas) ? undefined : describeNumber(found);
    },
};
