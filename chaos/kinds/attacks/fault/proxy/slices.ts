import { BlockList, isIPv6 } from "node:net";
import { labels } from "../../../../cluster/labels";

/** What the proxy reads of an EndpointSlice (discovery.k8s.io/v1). */
export interface Slice {
    metadata: { name: string; resourceVersion?: string; labels?: Record<string, string> };
    ports?: { name?: string | null; port?: number | null; protocol?: string | null }[] | null;
    endpoints?: SliceEndpoint[] | null;
}

interface SliceEndpoint {
    addresses: string[];
    conditions?: { ready?: boolean | null; serving?: boolean | null; terminating?: boolean | null };
    targetRef?: { uid?: string; name?: string };
}

export interface PodEndpoint {
    uid: string;
    /** Undefined if only the address is known. */
    pod?: string;
    address: string;
    port: number;
}

export class Pods {
    listed = false;
    /**
     * When the run's word was first seen that answers count, in milliseconds of `performance.now()`. It is a label of
     * the Service, which its EndpointSlices have, too. Undefined before.
     */
    countingSince?: number;
    private slices: readonly Slice[] = [];
    private readonly chosen = new Map<string, PodEndpoint[]>();
    private addresses?: BlockList;

    update(slices: readonly Slice[]): void {
        this.slices = slices;
        this.chosen.clear();
        this.addresses = undefined;
        this.listed = true;
        if (slices.some(({ metadata }) => metadata.labels?.[labels.counting])) this.countingSince ??= performance.now();
    }

    /**
     * One of the pods from which kube-proxy would choose: those that are ready or, if none is, those that still serve
     * while they terminate.
     *
     * @param port name of the Service's port
     * @param random from 0 to 1, without 1
     */
    choose(port: string, random = Math.random()): PodEndpoint | undefined {
        let pods = this.chosen.get(port);
        if (!pods) {
            pods = this.ready(port);
            if (pods.length === 0) pods = this.endpoints(port, servesStill);
            this.chosen.set(port, pods);
        }
        return pods[Math.floor(random * pods.length)];
    }

    ready(port: string): PodEndpoint[] {
        return this.endpoints(port, isReady);
    }

    find(port: string, uid: string): PodEndpoint | undefined {
        return this.endpoints(port, () => true).find((pod) => pod.uid === uid);
    }

    /** Whether an address is that of a pod, ready or not. An IPv4 address may be written as one of IPv6. */
    has(address: string): boolean {
        this.addresses ??= listOf(this.slices.flatMap(({ endpoints }) => endpoints ?? []));
        return this.addresses.check(address, family(address));
    }

    include(pod: string): boolean {
        return this.slices.some(({ endpoints }) => endpoints?.some(({ targetRef }) => targetRef?.name === pod));
    }

    /** Each pod once: with dual stack it is in a slice of each family, and either address will do. */
    private endpoints(name: string, which: (endpoint: SliceEndpoint) => boolean): PodEndpoint[] {
        const pods = new Map<string, PodEndpoint>();
        for (const { ports, endpoints } of this.slices) {
            const port = ports?.find((one) => (one.name ?? "") === name && (one.protocol ?? "TCP") === "TCP")?.port;
            if (!port) continue;
            for (const endpoint of endpoints?.filter(which) ?? []) {
                const address = endpoint.addresses[0]!;
                const uid = endpoint.targetRef?.uid ?? address;
                pods.set(uid, { uid, pod: endpoint.targetRef?.name, address, port });
            }
        }
        return [...pods.values()];
    }
}

function listOf(endpoints: readonly SliceEndpoint[]): BlockList {
    const list = new BlockList();
    for (const address of endpoints.flatMap(({ addresses }) => addresses)) list.addAddress(address, family(address));
    return list;
}

const family = (address: string) => (isIPv6(address) ? "ipv6" : "ipv4");

// A missing condition means what the API's documentation says.
const isReady = ({ conditions }: SliceEndpoint) => conditions?.ready !== false;
const servesStill = ({ conditions }: SliceEndpoint) =>
    (conditions?.serving ?? conditions?.ready) !== false && conditions?.terminating === true;
