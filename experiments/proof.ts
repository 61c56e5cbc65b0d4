import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, orMissing } from "../shared/kubernetes";
import type { ConnectionReport } from "./deadline/report";
import { endpointsOf } from "./targets/chosen";
import type { Target } from "./targets/discover";

/** Why an attack is not proven: the reason of the verdict INCONCLUSIVE. */
export type Doubt = string;

/** Since when an attack works: by this machine's clock, and by that of the witness, which may differ. */
export interface Proven {
    attackedAt: number;
    witnessedAt: number;
}

/** How long the deadline's Job is given to start; its image may have to be pulled. */
const startMs = 120_000;

/** How long a cluster is given to enforce a policy. kube-router takes a second; others poll. */
const enforcementMs = 15_000;

/** What the deadline's Job, an ordinary pod of the same namespace, saw of the targets. */
export class Witness {
    private readonly endpoints: readonly string[];

    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
        private readonly job: string,
        targets: readonly Target[],
    ) {
        this.endpoints = endpointsOf(targets);
    }

    /**
     * Waits until the Job's pod runs and has looked at all the targets, whatever it saw.
     *
     * @throws Error where it does not get so within two minutes
     */
    async begun(): Promise<void> {
        const giveUpAt = Date.now() + startMs;
        while (!(await this.reports()).some(({ open, closed }) => this.endpoints.every((endpoint) => open.includes(endpoint) || closed.includes(endpoint)))) {
            if (Date.now() > giveUpAt) {
                throw new Error(
                    `the Job ${this.job}, which is to end the attack at its deadline, has not begun within ${startMs / 1_000} s; nothing was attacked. ` +
                        `See why: kubectl --namespace ${this.namespace} describe pod --selector batch.kubernetes.io/job-name=${this.job}`,
                );
            }
            await sleep(100);
        }
    }

    /** Waits until fresh connections to all targets fail; says since when, or why that cannot be shown. */
    async attackProven(): Promise<Proven | { doubt: Doubt }> {
        const giveUpAt = Date.now() + enforcementMs;
        for (;;) {
            const reports = await this.reports();
            const control = this.endpoints.length > 0 ? reports.find(({ open }) => this.endpoints.every((endpoint) => open.includes(endpoint))) : undefined;
            const cut = reports.find(({ at, closed }) => control && at > control.at && this.endpoints.every((endpoint) => closed.includes(endpoint)));
            if (cut) return { attackedAt: Date.now(), witnessedAt: cut.at };
            if (Date.now() > giveUpAt) return { doubt: control ? notEnforced(reports.at(-1)) : this.noControl(reports) };
            await sleep(100);
        }
    }

    /** Whether the targets have been cut off ever since, as far as the witness saw; else why not. */
    async attackHeld({ attackedAt, witnessedAt }: Proven): Promise<Doubt | undefined> {
        const reports = (await this.reports()).filter(({ at }) => at >= witnessedAt);
        const leak = reports.find(({ open }) => open.length > 0);
        if (leak) return `the targets could be reached again in the middle of the run, at ${leak.open.join(", ")}`;
        const watchedMs = (reports.at(-1)?.at ?? witnessedAt) - witnessedAt;
        if (Date.now() - attackedAt - watchedMs > 10_000) return "the Job that watches the targets has fallen silent";
        return undefined;
    }

    private noControl(reports: readonly ConnectionReport[]): Doubt {
        if (this.endpoints.length === 0) return "the targets declare no TCP port, so nothing can show that they are cut off";
        if (reports.length === 0) return "the Job that watches the targets reported nothing, so nobody saw whether they can be reached";
        return "the targets could not be reached even before the attack began";
    }

    private async reports(): Promise<ConnectionReport[]> {
        const pods = await this.cluster.core.listNamespacedPod({ namespace: this.namespace, labelSelector: `batch.kubernetes.io/job-name=${this.job}` });
        const logs = await Promise.all(
            // A pod whose container has not started has no log, and the API server says so with an error (400).
            pods.items
                .filter(({ status }) => status?.containerStatuses?.some(({ state }) => state?.running || state?.terminated))
                .map(({ metadata }) => orMissing(this.cluster.core.readNamespacedPodLog({ name: metadata!.name!, namespace: this.namespace }))),
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
