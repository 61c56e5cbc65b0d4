import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, orMissing } from "../shared/kubernetes";
import type { ConnectionReport } from "./deadline/report";
import type { Target } from "./targets/discover";

/** Why an attack is not proven: the reason of the verdict INCONCLUSIVE. */
export type Doubt = string;

/** How long a cluster is given to enforce a policy. kube-router takes a second; others poll. */
const enforcementMs = 15_000;

/** What the deadline's Job, an ordinary pod of the same namespace, saw of the targets. */
export class Witness {
    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
        private readonly job: string,
    ) {}

    /** Waits until fresh connections to all targets fail; says since when, or why that cannot be shown. */
    async attackProven(): Promise<{ attackedAt: number } | { doubt: Doubt }> {
        const giveUpAt = Date.now() + enforcementMs;
        for (;;) {
            const reports = await this.reports();
            const control = reports.find(({ open, closed }) => open.length > 0 && closed.length === 0);
            const cut = reports.find((report) => control && report.at > control.at && report.open.length === 0);
            if (cut) return { attackedAt: cut.at };
            if (Date.now() > giveUpAt) return { doubt: control ? notEnforced(reports.at(-1)) : noControl(reports) };
            await sleep(100);
        }
    }

    /** Whether the targets have been cut off ever since, as far as the witness saw; else why not. */
    async attackHeld(attackedAt: number): Promise<Doubt | undefined> {
        const reports = (await this.reports()).filter(({ at }) => at >= attackedAt);
        const leak = reports.find(({ open }) => open.length > 0);
        if (leak) return `the targets could be reached again in the middle of the run, at ${leak.open.join(", ")}`;
        if (Date.now() - (reports.at(-1)?.at ?? 0) > 10_000) return "the Job that watches the targets has fallen silent";
        return undefined;
    }

    private async reports(): Promise<ConnectionReport[]> {
        const pods = await this.cluster.core.listNamespacedPod({ namespace: this.namespace, labelSelector: `batch.kubernetes.io/job-name=${this.job}` });
        const logs = await Promise.all(
            pods.items.map(({ metadata }) => orMissing(this.cluster.core.readNamespacedPodLog({ name: metadata!.name!, namespace: this.namespace }))),
        );
        return logs
            .flatMap((log) => (log ?? "").split("\n"))
            .filter((line) => line.startsWith("{") && line.endsWith("}"))
            .map((line) => JSON.parse(line) as ConnectionReport)
            .sort((a, b) => a.at - b.at);
    }
}

/** Whether the containers that were attacked are still the ones that run; else what became of them. */
export async function targetsUnchanged(cluster: Cluster, targets: readonly Target[]): Promise<Doubt | undefined> {
    for (const target of targets) {
        const pod = await orMissing(cluster.core.readNamespacedPod({ name: target.pod, namespace: target.namespace }));
        if (!pod || pod.metadata!.uid !== target.uid || pod.metadata!.deletionTimestamp) {
            return `the target ${target.pod} was gone before the run had ended`;
        }
        const status = pod.status?.containerStatuses?.find(({ name }) => name === target.container);
        if (status?.containerID !== target.containerId) return `the target ${target.pod}/${target.container} was restarted in the middle of the run`;
    }
    return undefined;
}

function notEnforced(last: ConnectionReport | undefined): Doubt {
    return (
        `the NetworkPolicy is there, but ${last?.open.join(", ") ?? "the target"} still took fresh connections ${enforcementMs / 1_000} s later: ` +
        "this cluster's network does not enforce NetworkPolicies. Use one that does, for example `minikube start --cni=calico`"
    );
}

function noControl(reports: readonly ConnectionReport[]): Doubt {
    if (reports.length === 0) return "the Job that watches the targets reported nothing, so nobody saw whether they can be reached";
    if (reports.every(({ open, closed }) => open.length + closed.length === 0)) {
        return "the targets declare no TCP port, so nothing can show that they are cut off";
    }
    return "the targets could not be reached even before the attack began";
}
