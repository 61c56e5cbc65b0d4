import { type Cluster, type ClusterAccess, connect, statusOf } from "../cluster/client";
import { kubeconfigFrom, loadKubeconfig } from "../cluster/kubeconfig";

/**
 * Undoes a run with the kubeconfig that the state has. Its token may have expired since the run began: then with a
 * context of this machine that leads to the same cluster. The attacks are over by then, or end at their deadline.
 *
 * @throws Error that says how to name such a context, if there is none
 */
export async function undoWith<T>(
    access: ClusterAccess,
    undo: (cluster: Cluster) => Promise<T>,
    say: (line: string) => void,
): Promise<T> {
    try {
        return await undo(connect(access));
    } catch (error) {
        if (statusOf(error) !== 401 || access.kubeconfig === undefined) throw error;
        const context = sameClusterHere(access);
        say(`The kubeconfig in the stack's state was rejected (401); using the context ${context} of this machine`);
        return undo(connect({ context }));
    }
}

function sameClusterHere({ kubeconfig, context }: ClusterAccess): string {
    const expired = kubeconfigFrom(kubeconfig!);
    const { server, "certificate-authority-data": authority } = expired.getCluster(
        expired.getContextObject(context ?? expired.getCurrentContext())!.cluster,
    )!;
    const here = loadKubeconfig();
    const leadsThere = here.getContexts().filter(({ cluster }) => {
        const other = here.getCluster(cluster);
        // Local clusters have the same address, one after the other.
        const { "certificate-authority-data": another } = other ?? {};
        return other?.server === server && (!another || !authority || another === authority);
    });
    const found = leadsThere.find(({ name }) => name === here.getCurrentContext()) ?? leadsThere[0];
    if (found !== undefined) return found.name;
    throw new Error(
        `the API server at ${server} rejects the kubeconfig that the stack's state has for this run (401): it has ` +
            "probably expired. Get another kubeconfig for that cluster, set KUBECONFIG to its path, then run the " +
            "same command again",
    );
}
