import { parseAttributes } from "../../shared/attributes";

/**
 * Puts the shop's namespace into a target that names none: whoever does not say where, means the shop.
 *
 * @throws Error where the target names several namespaces, or all but one: an attack's objects are in exactly one.
 */
export function locateTarget(
    target: string,
    area: string,
    shopNamespace: string,
): { target: string; namespace: string } {
    const condition = parseAttributes(target).find(({ key }) => key === "k8s.namespace");
    if (condition === undefined) {
        const namespace = area === "Global" ? shopNamespace : area;
        return { target: `${target},k8s.namespace=${namespace}`, namespace };
    }
    const [namespace, ...others] = condition.values;
    if (condition.negated || others.length > 0 || namespace!.endsWith("*")) {
        throw new Error(`the target "${target}" must name exactly one namespace, as in k8s.namespace=${shopNamespace}`);
    }
    return { target, namespace: namespace! };
}
