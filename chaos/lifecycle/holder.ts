/** What is known of a lease without a cluster. Few imports: the program that guards a destroy has this file, too. */
import { kubectl, type KubectlPlace } from "../kubectl";

export const leaseName = "chaos-experiment";

export const leasePath = (namespace: string) =>
    `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`;

/** The command that ends a run's attacks: its deadline Job watches the lease. */
export const stopCommand = (place: KubectlPlace & { namespace: string }) =>
    `${kubectl(place)} delete lease ${leaseName}`;

/** The stack that holds a lease, with its identity: `local/0f3c5a7be2914d86`. Undefined if the lease names none. */
export const holderIn = ({ spec }: { spec?: { holderIdentity?: string } }): string | undefined =>
    /^stack (\S+) /.exec(spec?.holderIdentity ?? "")?.[1];
