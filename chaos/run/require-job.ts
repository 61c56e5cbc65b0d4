import { resources } from "../cluster/resources";
import { JobPod } from "../proof/job-pod";
import { ReasonError } from "../values/reasons";
import type { StepContext } from "./contract";

/**
 * The Job is made by the provider of the stack's resources, and the steps use a kubeconfig. Its name has the run, and
 * the step `steady-state` has deleted those of earlier runs.
 *
 * @throws ReasonError if it is not there, or of no use: of two clusters, one would be attacked while the other is
 *   watched
 */
export async function requireJob({ plan: { namespace }, cluster }: StepContext, name: string): Promise<void> {
    const job = await cluster.get({ resource: resources.job, name, namespace });
    // After an earlier try of this step, it may have ended the run.
    if (job && job.metadata!.deletionTimestamp === undefined)
        return new JobPod(cluster, namespace, name).requireParts();
    throw new ReasonError(
        "attack-refused",
        `namespace ${namespace} has no Job ${name} that stays: somebody has deleted it, or the provider has created ` +
            "it in another cluster than the kubeconfig's",
        "Give the experiment the kubeconfig and the context of its provider if that is so. Start another run",
    );
}
