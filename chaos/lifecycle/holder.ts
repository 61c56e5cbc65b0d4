/** What is known of a lease without a cluster. Few imports: the program that guards a destroy has this file, too. */
import type { V1Lease } from "../cluster/types";
import { kubectl, type KubectlPlace } from "../kubectl";

export const leaseName = "chaos-experiment";

export const leasePath = (namespace: string) =>
    `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`;

/**
 * Time between taking the lease and the attack, in milliseconds. The attack's deadline begins with it: the Job's pod
 * may take 2 min, its first report 30 s, the baseline and the positive control 45 s each, and Pulumi makes the objects.
 */
export const leasePreparationMs = 300_000;

/** The command that ends a run's attacks: its deadline Job watches the lease. */
export const stopCommand = (place: KubectlPlace & { namespace: string }) =>
    `${kubectl(place)} delete lease ${leaseName}`;

/** The stack that holds a lease, with its identity: `local/0f3c5a7be2914d86`. Undefined if the lease names none. */
export const holderIn = ({ spec }: { spec?: { holderIdentity?: string } }): string | undefined =>
    /^stack ([\w./-]+) /.exec(spec?.holderIdentity ?? "")?.[1];

/** A time of an object, in milliseconds since the epoch. 0 if it does not say it, as a lease that others have made. */
export const timeOf = (time?: Date | string) => new Date(time ?? 0).getTime() || 0;

/** When a lease ends, in milliseconds since the epoch: after its run's deadline. */
export const leaseEndsAt = ({ spec }: V1Lease) => timeOf(spec?.renewTime) + (spec?.leaseDurationSeconds ?? 0) * 1_000;
