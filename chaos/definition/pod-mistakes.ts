import * as z from "zod";
import { dnsSubdomain } from "../values/kubernetes-rules";
import { type PodOptions, runPods } from "../pods/pod-options";
import { nameSchema, placeIn } from "../values/texts";
import { issuesIn } from "./definition";

/** Labels and annotations by which runs find their pods, and keep meshes and autoscalers away from them. */
function unlessOwn(own: Readonly<Record<string, string>>) {
    return z.record(z.string(), z.string()).superRefine((all, context) => {
        for (const key of Object.keys(all))
            if (key in own || key.startsWith("chaos-experiments/"))
                context.addIssue({ code: "custom", path: [key], message: "is set by the experiment; remove it" });
    });
}

const name = nameSchema("the name of an object", dnsSubdomain);

export const podSchema = z.strictObject({
    imagePullSecrets: z.array(name).optional(),
    nodeSelector: z.record(z.string(), z.string()).optional(),
    tolerations: z
        .array(
            z.strictObject({
                key: z.string().optional(),
                operator: z.string().optional(),
                value: z.string().optional(),
                effect: z.string().optional(),
                tolerationSeconds: z.int().optional(),
            }),
        )
        .optional(),
    priorityClassName: name.optional(),
    labels: unlessOwn(runPods.labels).optional(),
    annotations: unlessOwn(runPods.annotations).optional(),
    runAsUser: z
        .union([z.int().min(1), z.literal(false)], {
            error: "allowed: a user id above 0, or false to set none",
        })
        .optional(),
}) satisfies z.ZodType<PodOptions>;

/** All mistakes in the options, each with its place and what is allowed there. */
export const podMistakes = (pod: unknown): string[] =>
    pod === undefined
        ? []
        : issuesIn(pod, podSchema).map(({ path, message }) => `${placeIn(["pod", ...path])}: ${message}`);
