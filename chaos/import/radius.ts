import type { Fields } from "./fields";

const counted = "it counts containers of ready pods";

/**
 * The radius for a number or a percentage of a file. Reports what is counted and rounded otherwise here.
 *
 * @param of what the file counts
 * @param rounded completes "it rounds …", of a share
 */
export function radiusWith(
    fields: Fields,
    key: string,
    { count, percent, of, rounded }: { count?: number; percent?: number; of: "pods" | "containers"; rounded: string },
): number | string | undefined {
    const there = `there it counts ${of}, ready or not`;
    if (count !== undefined)
        fields.note(
            `${there}; here ${counted}, and an attack hits whole pods: where a pod has several containers, raise the ` +
                "radius or add k8s.container.name=NAME to the target",
            key,
        );
    else if (percent === 100) fields.note(`${there}; here only ready pods are hit`, key);
    else if (percent !== undefined)
        fields.note(`${there}, and rounds ${rounded}: 66% of 3 is 2; here ${counted}, and rounds down: 1`, key);
    return count ?? (percent === undefined ? undefined : percent === 100 ? "all" : `${percent}%`);
}
