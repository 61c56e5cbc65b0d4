import * as z from "zod";
import { checkedAttributes, parseAttributes } from "./attributes";

/**
 * Adds the namespace to a target that names none.
 *
 * @param target @default everything in that namespace
 * @param area `Global`, or one namespace
 * @throws Error if the target names several namespaces, or excludes one: an attack's objects are in exactly one
 */
export function locateTarget(
    target: string | undefined,
    area: string,
    defaultNamespace: string,
): { target: string; namespace: string } {
    const namespace = area === "Global" ? defaultNamespace : area;
    if (target === undefined) return { target: `k8s.namespace=${namespace}`, namespace };
    const condition = parseAttributes(target).find(({ key }) => key === "k8s.namespace");
    if (condition === undefined) return { target: `${target},k8s.namespace=${namespace}`, namespace };
    const [named, ...others] = condition.values;
    if (condition.negated || others.length > 0 || named!.endsWith("*"))
        throw new Error(
            `the target "${target}" must name exactly one namespace, as in k8s.namespace=${defaultNamespace}`,
        );
    return { target, namespace: named! };
}

export const expression = z.string().check((context) => {
    try {
        checkedAttributes(context.value);
        locateTarget(context.value, "Global", "default");
    } catch (error) {
        context.issues.push({ code: "custom", input: context.value, message: (error as Error).message });
    }
});
