import { ApiError, type Cluster, messageOf, statusOf } from "../../../cluster/client";
import { resources } from "../../../cluster/resources";
import { parseJson } from "../../../values/json";
import { kubectlFor } from "../../../values/kubectl";
import { ReasonError } from "../../../values/reasons";
import { onePerPod } from "../../../targets/pods";
import type { RunAttack } from "../attack-kind";
import { evictionOf, refusalIn, type Status } from "./eviction";
import { few, quoted } from "../../../values/quoted";

/**
 * Tries by dry runs whether the API server would evict one of the targets at least. Refusals that dry runs do not show
 * come under attack.
 *
 * @throws ReasonError in the API server's words if it would evict none
 */
export async function tryEvictions({ chosen, namespace }: RunAttack<unknown>, cluster: Cluster): Promise<void> {
    const refusals: { pod: string; why: string }[] = [];
    for (const { pod, uid } of onePerPod(chosen.targets)) {
        const body = evictionOf({ namespace, name: pod }, uid);
        const why = await cluster
            .create({ resource: resources.pod, namespace, name: pod, part: "eviction" }, body, { dryRun: "All" })
            .then(
                () => undefined,
                (error: unknown) => refusalIn(statusIn(error)),
            );
        if (why === undefined) return;
        refusals.push({ pod, why });
    }
    const named = few(refusals.map(({ pod }) => pod));
    throw new ReasonError(
        "eviction-refused",
        `the API server would not evict ${named}: ${quoted(refusals[0]!.why)}`,
        `Run more pods than the budget needs, or change it: ${kubectlFor(cluster, namespace)} get ` +
            "poddisruptionbudgets. Or kill by deletion, which no budget stops",
    );
}

/** The Status object of an error. */
function statusIn(error: unknown): Status {
    const status = error instanceof ApiError ? (parseJson(error.body) as Status | undefined) : undefined;
    return { ...(status ?? { message: messageOf(error) }), code: statusOf(error) };
}
