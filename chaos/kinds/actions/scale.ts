import * as z from "zod";
import { dnsSubdomain } from "../../values/kubernetes-rules";
import { resources } from "../../cluster/resources";
import { nameSchema } from "../../values/texts";
import type { ActionKind } from "./action-kind";
import { setUntilUndone, whyNotSet } from "../../cluster/set-field";

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
    keeps: ({ replicas }) => replicas,
    adds: ({ replicas }, { spec }) => replicas > (spec?.replicas ?? 1),
    restores: { resource, named: "deployment" },
    perform: ({ deployment: name, replicas }, context) =>
        setUntilUndone(context, { resource, name }, "replicas", replicas),
    whyNotKept: ({ deployment: name, replicas }, context) =>
        whyNotSet(context, { resource, name }, "replicas", replicas),
};
