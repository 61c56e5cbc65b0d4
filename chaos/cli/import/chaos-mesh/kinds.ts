/** The kinds of chaos: https://github.com/chaos-mesh/chaos-mesh/tree/master/api/v1alpha1 */
import { type Fields, Refusal } from "../fields";
import { readDnsChaos } from "./dns-chaos";
import { readHttpChaos } from "./http-chaos";
import { readNetworkChaos } from "./network-chaos";
import { readPodChaos } from "./pod-chaos";
import type { Reader } from "./reader";
import { readStressChaos } from "./stress-chaos";

const nothing = (does: string, nearest: string) => new Refusal(`${does}; no attack does that. ${nearest}`);
const outside = nothing("attacks machines of a cloud, or outside of the cluster", "Nothing comes near");
const files = nothing(
    "delays, fails or changes what a container reads and writes in files",
    "Nearest, for what callers notice of it: a fault with delay or abort",
);
const physical = nothing(
    "attacks machines outside of the cluster",
    "Nearest, for nodes of one: an attack on the pods of a node, with nodes in the selector",
);

export const kinds: Readonly<Record<string, Reader | Refusal>> = {
    PodChaos: readPodChaos,
    NetworkChaos: readNetworkChaos,
    HTTPChaos: readHttpChaos,
    StressChaos: readStressChaos,
    DNSChaos: readDnsChaos,
    IOChaos: files,
    IoChaos: files,
    TimeChaos: nothing("shifts the clock of a container", "Nothing comes near"),
    JVMChaos: nothing(
        "changes what the methods of a Java program do",
        "Nearest, for what callers notice of it: a fault with delay or abort; for load: a stress",
    ),
    KernelChaos: nothing("fails system calls", "Nothing comes near"),
    BlockChaos: nothing("slows the disks of a node", "Nothing comes near"),
    PhysicalMachineChaos: physical,
    PhysicalMachine: physical,
    AWSChaos: outside,
    AzureChaos: outside,
    GCPChaos: outside,
    YCChaos: outside,
    Workflow: new Refusal("is another Workflow. Nearest: import that by itself"),
    StatusCheck: new Refusal("is a check of Workflows by itself; write it as a template of one, or add --check URL"),
    RemoteCluster: new Refusal("is where a cluster is; here the kubeconfig and its context say that"),
};

/** @param others that are read elsewhere */
export const kindsAnd = (...others: string[]): typeof kinds => ({
    ...kinds,
    ...Object.fromEntries(others.map((other) => [other, () => undefined])),
});

/** A spec with a kind has what is of the kind at a key such as `podChaos`. */
export const embedded = (spec: Fields, kind: string): Fields =>
    spec.object(kind.replace(/^[A-Z]+(?=Chaos)|^[A-Z]/, (start) => start.toLowerCase()));
