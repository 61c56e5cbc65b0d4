import type { Cluster } from "../cluster/client";
import { kubectl, type KubectlPlace } from "../values/kubectl";
import { type AttributeExpression, nodeConditions } from "./attributes";
import { type Discovered, ownerOf, select, type Target } from "./containers";
import { discoverSpared, type DiscoveryScope } from "./discover";
import type { DistinctiveLabel } from "./distinguish";
import { type Eligibility, notReady, ofJob, whyLeftOut, withoutController } from "./eligible";
import { groupedBy } from "../values/grouped";
import { few, maxNamed } from "../values/quoted";
import { ReasonError } from "../values/reasons";
import { remedy, type Written } from "../values/texts";
import { containersWithin, describeRadius, type Radius, shuffled } from "./radius";

/** Which targets an attack asks for, as its plan and its kind say. Its attributes include their namespace. */
export interface TargetRequest extends Eligibility {
    /** Of the attack, unique in the experiment: the kind, numbered from the second of a kind on. */
    name: string;
    radius: Radius;
    peers?: AttributeExpression;
    /** What the attack's kind has found in the cluster: see `find` of `AttackKind`. Absent if it seeks nothing. */
    found?: unknown;
    /** Where it has found that, as in "Service hot-deals": its selector narrows the target. */
    origin?: string;
}

/** The pods of an attack. `label-targets` prints it, so the state keeps it. */
export interface Chosen extends Pick<TargetRequest, "name" | "found" | "origin"> {
    matching: number;
    targets: Target[];
    /** See `labels.chosenBy`. Absent until the targets are labeled, or if an earlier version has done that. */
    chosenBy?: string;
    /** What owns the targets; see `workloadsOf`. For reports. Absent if that is not known. */
    workloads?: string[];
    /** What owns the peers. Absent if the attack does not name pods as peers, or that is not known. */
    peerWorkloads?: string[];
    /** The containers that the targets are cut off from. Absent if the attack does not name peers. */
    peers?: Target[];
    /** Tells the peers from all other pods of their namespaces. Absent if there is none, or none was sought. */
    peersLabel?: DistinctiveLabel;
    /** The addresses that the attack's hosts have in the targets. Absent if the attack names none. */
    hosts?: ResolvedHost[];
    /** The same of the host that must still be reached. Absent if there is none. */
    control?: ResolvedHost;
    /** The targets' pods in which nothing can be tried: no tool, or nothing may be run. Absent if there are none. */
    withoutTool?: string[];
    /** Connections that did not work before the attack, and so can show nothing under it. Absent if there are none. */
    leftOut?: string[];
    /** Names of the nodes on which pods match. Absent if they match on all, or if no further pods will be chosen. */
    nodes?: string[];
    /** What `tryOut` of the attack's kind has found in the targets. Absent if it seeks nothing. */
    tried?: unknown;
    /** How many containers matched before the attack. Absent if no further pods will be chosen. */
    atFirst?: number;
}

/** A host of an attack, with its addresses: those of a name as the targets resolve it. */
export interface ResolvedHost {
    host: string;
    /** Where it is tried. */
    port: number;
    addresses: string[];
    /** Set if the attack is of all of its ports. */
    allPorts?: true;
}

/** What the reason needs if no attack is possible. */
interface ForReasons extends Written, Pick<KubectlPlace, "context"> {
    /** Containers that run, and that no experiment attacks: the reason counts them. @default none is known */
    spared?: readonly Discovered[];
}

/** As `chooseForAll`. If that is not possible, the reason also knows the containers that no experiment attacks. */
export async function chooseTargets(
    cluster: Cluster,
    plan: DiscoveryScope & Written & Pick<KubectlPlace, "context">,
    discovered: readonly Discovered[],
    attacks: readonly TargetRequest[],
): Promise<Chosen[]> {
    const asked = { ...plan, context: plan.context ?? cluster.kubeconfig.getCurrentContext(), attacks };
    try {
        return chooseForAll(discovered, asked);
    } catch {
        return chooseForAll(discovered, { ...asked, spared: await discoverSpared(cluster, plan) });
    }
}

/**
 * Chooses the targets of each attack of an experiment, in order. NetworkPolicies add up: one allows what another
 * denies. So a pod is hit by one attack only, and each attack chooses among the pods that no earlier attack has chosen.
 *
 * @throws Error as `choose` does, and if no container matches the peers
 */
export function chooseForAll(
    discovered: readonly Discovered[],
    { attacks, ...known }: { attacks: readonly TargetRequest[] } & ForReasons,
): Chosen[] {
    const taken = new Set<string>();
    return attacks.map((request) => {
        const { name, peers, found, origin } = request;
        const chosen = choose(discovered, request, taken, known);
        for (const { uid } of chosen.targets) taken.add(uid);
        return {
            name,
            ...chosen,
            ...(peers !== undefined && { peers: peersOf(discovered, peers, chosen.targets, known.spared) }),
            ...(found !== undefined && { found, origin }),
        };
    });
}

/** All containers that match, except the targets themselves. */
function peersOf(
    discovered: readonly Discovered[],
    expression: string,
    targets: readonly Target[],
    spared: readonly Discovered[] = [],
): Target[] {
    const matching = select(discovered, expression);
    const peers = matching.filter(({ uid }) => targets.every((target) => target.uid !== uid));
    if (peers.length > 0) return peers.map(withoutAttributes);
    const leftOut = select(spared, expression);
    const message =
        leftOut.length > 0
            ? whyAllLeftOut(
                  leftOut.map(({ spared }) => spared!),
                  `the peers ${expression}`,
              )
            : `no running container matches the peers ${expression}, except the targets`;
    throw new ReasonError("no-target", message, valuesOnNodes(discovered, expression) + inventory(discovered));
}

/**
 * Chooses the containers that an attack affects: at random among those that match, never more than the radius allows.
 * An attack hits all containers of a pod, so a pod is chosen with all of its matching containers or not at all.
 *
 * @param taken uids of the pods that other attacks have chosen
 * @throws Error that lists the workloads if nothing matches, or says why nothing of what matches can be chosen
 */
function choose(
    discovered: readonly Discovered[],
    request: TargetRequest,
    taken: ReadonlySet<string>,
    known: ForReasons,
): Pick<Chosen, "matching" | "targets"> {
    const { name, target, radius } = request;
    const described = select([...discovered, ...(known.spared ?? [])], target);
    const origin = request.origin && `, which are the conditions of the target and the selector of ${request.origin}`;
    const condition = `${target}${origin ?? ""}`;
    const anotherTarget =
        `${valuesOnNodes(discovered, target)}${inventory(discovered, known)}\n` +
        `Set another target: ${remedy(known, "target", "k8s.deployment=NAME")}`;
    if (described.length === 0)
        throw new ReasonError("no-target", `no running container matches ${condition}`, anotherTarget);
    const leftOut = described.map((one) => whyLeftOut(one, request));
    const eligible = described.filter((_, index) => leftOut[index] === undefined);
    if (eligible.length === 0) {
        const [{ namespace }, reasons] = [described[0]!, leftOut as string[]];
        const message = whyAllLeftOut(reasons, condition);
        throw canBeChanged(reasons, message, namespace, known) ?? new ReasonError("no-target", message, anotherTarget);
    }
    const matching = eligible.filter(({ uid }) => !taken.has(uid));
    if (matching.length === 0) {
        const ready = leftOut.includes(notReady) ? "ready " : "";
        throw new ReasonError(
            "no-target",
            `the attacks before ${name} already use every ${ready}pod that matches ${target}, and a pod ` +
                "can have only one attack",
            "Scale the workload up, or lower their radius",
        );
    }
    const allowed = containersWithin(radius, matching.length);
    if (allowed === 0)
        throw new ReasonError(
            "radius-too-small",
            `a radius of ${describeRadius(radius)} allows none of the ${matching.length} containers that match ` +
                target,
            `Allow at least one: ${remedy(known, "radius", 1)}`,
        );
    const pods = [...groupedBy(matching, ({ uid }) => uid).values()];
    const targets: Target[] = [];
    for (const containers of shuffled(pods)) {
        if (targets.length + containers.length <= allowed) targets.push(...containers.map(withoutAttributes));
    }
    if (targets.length > 0) return { matching: matching.length, targets };
    const least = Math.min(...pods.map((containers) => containers.length));
    throw new ReasonError(
        "radius-too-small",
        `each pod that matches ${target} has at least ${least} matching containers, and an attack hits whole ` +
            `pods, but the radius allows ${allowed}`,
        "Select one container per pod with k8s.container.name, or raise the radius: " + remedy(known, "radius", least),
    );
}

const withoutAttributes = ({ attributes: _, ready: __, bare: ___, helpers: ____, ...target }: Discovered): Target =>
    target;

/** Why an attack leaves out all containers that match, and how many for which reason. */
function whyAllLeftOut(reasons: readonly string[], expression: string): string {
    const number = reasons.length;
    const matches = `${number === 1 ? "1 container matches" : `${number} containers match`} ${expression}`;
    const [first, ...others] = [...groupedBy(reasons, (reason) => reason).entries()];
    if (others.length > 0) {
        const each = [first!, ...others].map(([reason, { length }]) => `${length} ${reason}`).join(", ");
        return `${matches}, but this attack leaves all their pods out: ${each}`;
    }
    const pods = number === 1 ? "its pod is" : "their pods are";
    return `${matches}, but ${pods} ${first![0]}, and this attack leaves such pods out`;
}

/** The error that names what can be changed. Undefined if nothing can be changed. */
function canBeChanged(
    reasons: readonly string[],
    message: string,
    namespace: string,
    written: ForReasons,
): ReasonError | undefined {
    const it = reasons.length === 1 ? "it" : "them";
    if (reasons.includes(notReady)) {
        const pods = `${kubectl({ context: written.context, namespace })} get pods`;
        const allTheSame = remedy(written, "includeNotReady", true);
        const advice = `See why: ${pods}. To attack ${it} all the same: ${allTheSame}`;
        return new ReasonError("targets-not-ready", message, advice);
    }
    if (!reasons.includes(ofJob) && !reasons.includes(withoutController)) return undefined;
    const advice = reasons.includes(ofJob)
        ? "Each pod that a kill deletes counts against the Job's backoffLimit. " +
          `To kill ${it} all the same, name the Job in the target: k8s.job=NAME`
        : "Such a pod would not come back after a kill. Allowed: pods of a Deployment, a StatefulSet, a DaemonSet or " +
          "another controller; or another attack, such as blackhole";
    return new ReasonError("targets-not-replaced", message, advice);
}

/**
 * The values that an expression's conditions on nodes could have had, in sentences. Empty if it has no such conditions.
 */
function valuesOnNodes(discovered: readonly Discovered[], expression: AttributeExpression): string {
    const keys = new Set(nodeConditions(expression).map(({ key }) => key));
    const sentences = [...keys].map((key) => {
        const values = [...new Set(discovered.flatMap(({ attributes }) => attributes[key] ?? []))].sort();
        const named = few(
            values.map((value) => `"${value}"`),
            maxNamed,
        );
        if (values.length === 0) return `No node on which such a container runs has ${key}. `;
        return `The nodes on which such containers run have ${key} ${named}. `;
    });
    return sentences.join("");
}

/**
 * What could be attacked, one line per workload.
 *
 * @param written what the reader would change. A setting takes no name of a pod
 */
function inventory(discovered: readonly Discovered[], { settings }: Written = {}): string {
    const workloads = new Map<string, number>();
    const named = discovered.filter(({ bare }) => settings === undefined || !bare);
    if (discovered.length > 0 && named.length === 0)
        return "Only pods without a controller run. A definition can name one, by k8s.pod.name; no setting does.";
    for (const { attributes, container, namespace, pod, bare } of named) {
        const itself = bare ? `k8s.pod.name=${pod}` : `k8s.container.name=${container}`;
        const line = `${ownerOf(attributes) ?? itself},k8s.namespace=${namespace}`;
        workloads.set(line, (workloads.get(line) ?? 0) + 1);
    }
    if (workloads.size === 0) return "No pod runs there that an experiment may attack.";
    const lines = [...workloads]
        .sort()
        .map(([line, containers]) => `  ${line}  (${containers} container${containers === 1 ? "" : "s"})`);
    return `Workloads that can be attacked:\n${lines.join("\n")}`;
}
