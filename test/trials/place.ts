import { abilities, type Choices, choices, type DeniedTraffic, type NetworkName } from "../../sandbox/node/choices";

/** The sandbox on which trials are done. */
export type Place = Pick<Choices, "network" | "nodes">;

/** What a kind needs of the place. @default any network, and one node or two */
export interface Needs {
    network?: NetworkName;
    nodes?: 2;
}

/** What a network can do with traffic that a NetworkPolicy denies. */
export const deniedOn = (network: NetworkName): readonly DeniedTraffic[] => abilities[network].denied;

/** The sandbox as it is. */
export function placeNow(): Place {
    const { network, nodes } = choices();
    return { network, nodes };
}

/** `calico`, or `calico, 2 nodes`. */
export const describePlace = ({ network, nodes }: Place): string =>
    nodes === 1 ? network : `${network}, ${nodes} nodes`;

/** `kube-router and 2 nodes`. Empty if nothing is needed. */
export const describeNeeds = ({ network, nodes }: Needs): string =>
    [network, nodes && `${nodes} nodes`].filter(Boolean).join(" and ");

/** What is needed and a place does not have, in words. Empty if it has everything. */
export const lackOf = ({ network, nodes }: Needs = {}, place: Place): string =>
    describeNeeds({
        network: network === place.network ? undefined : network,
        nodes: nodes && nodes <= place.nodes ? undefined : nodes,
    });
