import { randomInt } from "node:crypto";
import { type Discovered, select, type Target } from "../../shared/containers";
import type { Radius } from "../../shared/radius";
import { containersWithin, describeRadius } from "../../shared/radius";
import type { PlannedAttack } from "../plan";
import type { Chosen } from "./chosen";

/** No container can be attacked as planned. */
export class NoTargetError extends Error {
    constructor(message: string) {
        super(message);
        this.name = "NoTargetError";
    }
}

/**
 * Whom each of an experiment's attacks affects, in their order. Since NetworkPolicies add up, so that one allows what
 * another denies, a pod is hit by one attack only: each chooses among the pods that none before it has chosen.
 *
 * @throws NoTargetError as `choose` does, and where there are no peers
 */
export function chooseForAll(discovered: readonly Discovered[], attacks: readonly PlannedAttack[]): Chosen[] {
    const taken = new Set<string>();
    return attacks.map(({ name, target, radius, attack }) => {
        const chosen = choose(discovered, target, radius, { taken, name });
        for (const { uid } of chosen.targets) taken.add(uid);
        return "peers" in attack && attack.peers !== undefined
            ? { ...chosen, peers: peersOf(discovered, attack.peers, chosen.targets) }
            : chosen;
    });
}

/** Those from whom targets are to be cut off: all that match, the targets themselves aside. */
function peersOf(discovered: readonly Discovered[], expression: string, targets: readonly Target[]): Target[] {
    const peers = select(discovered, expression).filter(({ uid }) => targets.every((target) => target.uid !== uid));
    if (peers.length === 0)
        throw new NoTargetError(
            `no running container matches the peers ${expression}, the targets aside. ${inventory(discovered)}`,
        );
    return peers.map(({ attributes: _, ...peer }) => peer);
}

/**
 * The containers that an attack affects: those that the expression describes, at random as many of them as the radius
 * allows and never more. An attack hits a pod with all its containers, so pods are chosen, whole: each with all of its
 * containers that the expression describes.
 *
 * @param others the uids of the pods that other attacks have taken, and what this one is called
 * @throws NoTargetError that lists what there is, where nothing matches, or where the radius allows none of what does.
 */
export function choose(
    discovered: readonly Discovered[],
    expression: string,
    radius: Radius,
    others?: { taken: ReadonlySet<string>; name: string },
): Chosen {
    const described = select(discovered, expression);
    if (described.length === 0) {
        throw new NoTargetError(
            `no running container matches ${expression}. ${inventory(discovered)}\nSet another target: pulumi config set experiment.target 'k8s.deployment=NAME'`,
        );
    }
    const matching = described.filter(({ uid }) => !others?.taken.has(uid));
    if (matching.length === 0) {
        throw new NoTargetError(
            `all ${described.length} running containers that match ${expression} are in pods that attacks before ${others!.name} have taken, and a pod is hit by one attack only; ` +
                "scale the workload up, or give the attacks a smaller radius",
        );
    }
    const number = containersWithin(radius, matching.length);
    if (number === 0) {
        throw new NoTargetError(
            `a radius of ${describeRadius(radius)} allows none of the ${matching.length} containers that match ${expression}; ` +
                "allow at least one: pulumi config set experiment.radius 1",
        );
    }
    const pods = wholePods(matching);
    const targets: Target[] = [];
    for (const containers of shuffled(pods)) {
        if (targets.length + containers.length <= number)
            targets.push(...containers.map(({ attributes: _, ...target }) => target));
    }
    if (targets.length === 0) {
        const least = Math.min(...pods.map((containers) => containers.length));
        throw new NoTargetError(
            `an attack hits whole pods, and each pod of the ${matching.length} containers that match ${expression} has at least ${least} of them, where the radius allows ${number}; ` +
                `name one of each pod's by k8s.container.name, or allow as many: pulumi config set experiment.radius ${least}`,
        );
    }
    return { matching: matching.length, targets };
}

/** Containers by their pods. */
function wholePods(containers: readonly Discovered[]): Discovered[][] {
    const pods = new Map<string, Discovered[]>();
    for (const container of containers) {
        const pod = pods.get(container.uid);
        if (pod) pod.push(container);
        else pods.set(container.uid, [container]);
    }
    return [...pods.values()];
}

/** What could be attacked, a line a workload. */
function inventory(discovered: readonly Discovered[]): string {
    const workloads = new Map<string, number>();
    for (const { attributes } of discovered) {
        const owner = ["k8s.deployment", "k8s.statefulset", "k8s.daemonset", "k8s.job"].find(
            (key) => key in attributes,
        );
        const workload = owner
            ? `${owner}=${attributes[owner]}`
            : `k8s.container.name=${attributes["k8s.container.name"]}`;
        const line = `${workload},k8s.namespace=${attributes["k8s.namespace"]}`;
        workloads.set(line, (workloads.get(line) ?? 0) + 1);
    }
    if (workloads.size === 0)
        return "There is nothing that could be attacked: no pod runs outside of the cluster's own namespaces.";
    const lines = [...workloads]
        .sort()
        .map(([line, containers]) => `  ${line}  (${containers} container${containers === 1 ? "" : "s"})`);
    return `There is:\n${lines.join("\n")}`;
}

/** Fisher and Yates' shuffle. */
function shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let last = result.length - 1; last > 0; last--) {
        const other = randomInt(last + 1);
        [result[last], result[other]] = [result[other]!, result[last]!];
    }
    return result;
}
