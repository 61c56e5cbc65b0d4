import type { V1IPBlock, V1NetworkPolicy } from "../../values/kubernetes-types";
import type * as pulumi from "@pulumi/pulumi";
import type * as z from "zod";
import type { Cluster } from "../../cluster/client";
import type { jobTypes, KnownResource, Restores, Right } from "../../cluster/resources";
import type { Reason } from "../../values/reasons";
import type { Mistake } from "../../values/texts";
import type { NewPolicy } from "../../policies/own-policies";
import type { Denial } from "../../policies/denial";
import type { PodOptions } from "../../pods/pod-options";
import type { ExperimentPrograms } from "../../pods/built-programs";
import type { Chosen, TargetRequest } from "../../targets/choose";
import type { Radius } from "../../targets/radius";
import type { Counted, Counts } from "./counted";

/** One kind of attack that is a NetworkPolicy: it needs only the fields that are required. */
export interface PolicyKind<A extends { kind: string }> extends AttackKind<A> {
    effect: string;
    denies(attack: A): Denial;
}

/**
 * One kind of attack: a file or a folder, and its line in `registry.ts`. A kind that is no `PolicyKind` also has a line
 * in `attack-resource.ts`, for its object, and in `job-parts.ts`, for what the deadline Job does. Something shows each:
 * its `proof`, or what it has `reported`.
 *
 * @typeParam A what a definition says of such an attack, its `kind` included
 * @typeParam F what `find` finds
 * @typeParam T what `tryOut` finds, which the attack's object tells the deadline Job
 */
export interface AttackKind<A extends { kind: string }, F = undefined, T = undefined> {
    /** What a definition may say; anything else is a mistake. */
    schema: z.ZodObject & z.ZodType<A>;
    /** Attacks that need different rights, for the docs and for tests. Names are in capitals. */
    examples: readonly A[];
    /** What is done, for people: completes "hot-deals-1 is …", as in "cut off from the network". */
    describe(attack: A): string;
    /** The same in a word or two, for programs that show it on a target. Absent if the attack's object shows it. */
    effect?: string;
    /** The traffic that a NetworkPolicy denies the targets. Absent if the attack is not a NetworkPolicy. */
    denies?(attack: A): Denial;
    /** A mistake that lies in several fields, or all of these. Absent if there can be none. */
    mistake?(attack: A): Mistake | readonly Mistake[] | undefined;
    /** How long the window must last for the attack to show, in ms. @default any time is enough */
    windowMs?(attack: A): number;
    /** Whether a PodDisruptionBudget may stop it. @default no */
    isBudgeted?(attack: A): boolean;
    /** Set if pods that are not ready cannot be attacked. */
    onlyReady?: true;
    /** Set if it leaves the other containers of its targets' pods alone. @default they are hit with them */
    sparesOthers?: true;
    proof(attack: A): Proof;

    /** Type of the object that is the attack: while that exists, the attack lasts. @default a NetworkPolicy */
    object?: KnownResource;
    /**
     * Types of the other objects that it is made of. Each object has the experiment's label, by which the sweep finds
     * it. Types that the deadline Job has, too, must not be named, such as that of an account: the sweep removes these
     * objects last, no matter who made them, and the Job may still need its own. @default none
     */
    parts?: readonly Exclude<KnownResource, (typeof jobTypes)[number]>[];
    /** Set if it leaves all traffic alone, and no connection proves it: then NetworkPolicies do not matter. */
    leavesTraffic?: true;
    /** What it changes in the cluster besides its own objects, and must be restored. Absent if there is nothing. */
    restores?: Restores<A>;
    /** Set if it changes its targets' pods themselves, besides labels, and that must be restored. */
    restoresTargets?: true;
    /** The rights that the account which runs the experiment needs for this attack. @default nothing */
    rights?(namespace: string): Right[];
    /** The input of its part in the deadline Job, as JSON. @default nothing */
    forJob?(attack: A, wanted: { target: string; radius: Radius; clusterName: string; deadlineMs: number }): object;
    /** The rights of that part. @param object name of the attack's object. @default nothing */
    rightsInJob?(object: string, attack: A): Right[];

    /**
     * What the attack needs to know of the cluster before its targets are chosen. It also says among which pods: no
     * other target is needed.
     *
     * @throws Error if the attack is not possible
     */
    find?(attack: A, cluster: Cluster, namespace: string): Promise<Found<F>>;
    /**
     * Tries before the attack whether it can be done.
     *
     * @throws ReasonError if it cannot
     */
    tryOut?(attack: RunAttack<A, F>, cluster: Cluster): Promise<T>;
    /** Refuses attacks of a run that can each be done, and not together. @throws ReasonError if there are some */
    refuseTogether?(attacks: readonly RunAttack<A, F>[]): void;
    /**
     * The policies that let it work among those of the namespace, and those that may come, until it ends.
     *
     * @throws Error if it cannot
     */
    admit?(attack: RunAttack<A, F, T>, cluster: Cluster, { policies, pass }: Policed): Promise<NewPolicy[]>;
    /** To which pods it connects itself, at which ports: no other attack of its run may deny that. @default none */
    connects?(found: F): { pod: string; ports: readonly number[] }[];
    /** How long its object usually takes at most to be ready, in ms: a deadline has room for that. @default 0 */
    readyMs?: number;
    /**
     * Waits until it can begin, once its object is there and its targets are labeled. @default it begins by itself
     *
     * @returns connections that do not work even now, and so can show nothing; or why it cannot begin
     */
    ready?(attack: RunAttack<A, F, T>, cluster: Cluster): Promise<{ leftOut: string[] } | Reason>;
    /** Begins it, once all are ready. @throws Error if that is not possible */
    begin?(attack: RunAttack<A, F, T>, cluster: Cluster): Promise<void>;
    /** Begins what an attack has kept back until answers count: called after the grace period. @default nothing */
    beginCounting?(attack: RunAttack<A, F, T>, cluster: Cluster): Promise<void>;
    /** What the Job's reports call what it must hit, and what it must leave alone. @default endpoints only */
    reported?(attack: RunAttack<A, F, T>): Reported;
    /**
     * Why the attack is over, as far as the cluster shows. Called at the end of the window, and every few seconds
     * within it while the attack does not show. Undefined while it lasts.
     *
     * @param job name of the deadline Job
     */
    explain?(attack: RunAttack<A, F, T>, cluster: Cluster, job: string): Promise<Reason | undefined>;
    /** What it has counted so far. Undefined if that is not known. */
    count?(attack: RunAttack<A, F, T>, cluster: Cluster): Promise<Counted | undefined>;
    /** Why the attack shows nothing, given its counts in the window. Undefined if it shows something. */
    whyNothing?(attack: A, counts: Counts | undefined): Reason | undefined;
}

/** The NetworkPolicies of a namespace that are others' for a run, and what lets the run's own pods through. */
export interface Policed {
    policies: readonly V1NetworkPolicy[];
    /** See `labels.pass`. */
    pass: string;
}

/** What a kind finds before the targets are chosen. */
export interface Found<F> {
    found: F;
    /** Attribute conditions: only such pods are chosen. */
    conditions: string;
    /** Where these come from, as in "Service hot-deals": its selector. */
    origin: string;
}

/** An attack of a plan. */
export interface PlannedAttack<A> extends Pick<TargetRequest, "name" | "target" | "radius" | "includeNotReady"> {
    attack: A;
    /** Set if the attack need not be proven out of targets in which nothing can be tried. */
    outward?: "unproven";
    /** Established connections into the targets must be cut, too. Absent if they may survive. */
    established?: "cut";
}

/** An attack of a run, with its pods. */
export interface RunAttack<A, F = unknown, T = unknown> extends PlannedAttack<A> {
    experiment: string;
    namespace: string;
    run: string;
    /** Name of the object that is the attack. */
    object: string;
    /** Value of the label on its targets. */
    label: string;
    chosen: Chosen & { found?: F; tried?: T };
}

/** What the resources of an attack are made from. */
export interface AttackResourceArgs<A> {
    attack: A;
    experiment: string;
    namespace: string;
    runName: pulumi.Output<string>;
    /** See `labels.pass`. */
    pass: pulumi.Output<string>;
    /** Name of the object: each run has its own. */
    object: pulumi.Output<string>;
    /** Value of the label on its targets. */
    label: string;
    /** Known once the deadline Job watches the targets. */
    chosen: pulumi.Output<Chosen>;
    /** Of the object that is the attack. By its label and annotation the sweep finds it. */
    metadata: {
        name: pulumi.Output<string>;
        namespace: string;
        labels: Record<string, string>;
        annotations: Record<string, pulumi.Output<string>>;
    };
    /** A Node image. */
    image: string;
    programs: ExperimentPrograms;
    /** For pods that the attack is made of. */
    pod?: PodOptions;
}

/** What the objects of an attack are made from that are tried by a dry run, before anything is touched. */
export interface DryRunArgs<A> extends Pick<
    AttackResourceArgs<A>,
    "attack" | "experiment" | "namespace" | "image" | "programs" | "pod"
> {
    run: string;
    pass: string;
    /** Name of the object that is the attack. */
    object: string;
}

/** An object that a run makes, to be tried by a dry run. */
export interface DryRun {
    kind: "Job" | "Pod" | "Service";
    /** Name of the Pulumi resource. */
    name: string;
    /** The resource's inputs. */
    props: { metadata: { name: string; namespace: string; annotations?: Record<string, string> }; spec: object };
}

/** Names in the Job's reports. */
export interface Reported {
    /** What must be closed under the attack: its own names, and endpoints of its targets. */
    hit: string[];
    /** What is no target. It must not be closed. */
    spared: string[];
    /** What must be left alone at the targets: the attack is proven once these are open while `hit` is closed. */
    passed: string[];
    /** What is said of one of `hit` that is not closed, after its name. @default as of probes through a Service */
    missing?: string;
}

/** What must work before an attack and fail under it; and, in `stillWorks`, what must work under it, too. */
export interface Proof {
    /** Fresh TCP connections from another pod to the targets: to these ports, or to all known ports. */
    inward?: { ports?: readonly number[] };
    /** Fresh TCP connections from the targets to the witness, which listens on this port: see `listenPort`. */
    outward?: { port: number };
    /**
     * Fresh TCP connections between targets and peers: in these directions, to these ports or to all known ports.
     */
    peers?: { ways: readonly ("ingress" | "egress")[]; ports?: readonly number[] };
    /** A DNS lookup of a name, made in the targets. */
    lookup?: { name: string };
    /** Fresh TCP connections from the targets to each of some hosts, and so to an address in each of some blocks. */
    addresses?: { hosts: readonly PeerHost[]; blocks: readonly ProvenBlock[] };
    /**
     * The targets, and the pods that were killed after them, must be gone. Pods are identified by uid. If the API
     * server refuses to evict some of them, the others must be gone, and at least one of those that match.
     */
    deleted?: true;
    /** The targets' containers may be killed for memory: that they are is no end of the attack. */
    outOfMemory?: true;
    /**
     * The targets' containers must not run, so that their ports are closed to the witness; their pods must stay. That
     * the containers ended is no end of the attack.
     */
    stopped?: true;
    /** @default nothing is tried */
    stillWorks?: StillWorks;
}

/**
 * The positive control: what the attack must leave alone. Without it, an attack that a network takes for a larger one
 * would be told as what it was meant to be.
 */
export interface StillWorks {
    /** Fresh TCP connections from another pod to the targets: to all known ports but these. */
    inward?: { except: readonly number[] };
    /** Fresh TCP connections from the targets to the witness, on one of the `witnessPorts`: it always listens there. */
    outward?: { port: number };
    /** Fresh TCP connections between targets and peers: in these directions, to all known ports but these. */
    peers?: { ways: readonly ("ingress" | "egress")[]; except: readonly number[] };
    /** Fresh TCP connections from the witness to one of some pods that are no targets. */
    untouched?: true;
    /** Fresh TCP connections from the targets to a host. Left out if it is the default and has no address to try. */
    host?: Host & { isDefault?: true };
}

/** A block of addresses in which connections fail, at this port if it has one. */
export interface ProvenBlock extends V1IPBlock {
    port?: number;
}

/** Something that accepts TCP connections outside of the cluster's pods. */
export interface Host {
    /** A name as the targets resolve it, or an address. */
    host: string;
    /** TCP and UDP, 1 to 65535. */
    port: number;
}

/** A host that the targets cannot reach. */
export interface PeerHost {
    /** A name as the targets resolve it, or an address. */
    host: string;
    /** TCP and UDP, 1 to 65535. @default all; port 443, or else 80, must answer before the attack */
    port?: number;
}

/** Where a host without a port is tried: the first that answers before the attack shows it. */
export const usualPorts: readonly number[] = [443, 80];

/** Whether something must be tried from within the targets to prove an attack. */
export const beginsAtTargets = ({ outward, lookup, addresses, peers }: Proof): boolean =>
    [outward, lookup, addresses].some(Boolean) || (peers?.ways.includes("egress") ?? false);

/** Whether something that must still work is tried from within the targets. */
export const controlsAtTargets = ({ stillWorks = {} }: Proof): boolean => Object.values(stillWorks).some(Boolean);

export const beginsAtPeers = ({ peers }: Proof): boolean => peers?.ways.includes("ingress") ?? false;

/**
 * Where the witness always accepts connections: ports that a pod without privileges may use. An attack that blocks some
 * ports must leave one of these alone, so that it can be shown that it does.
 */
export const witnessPorts = [8_080, 18_080, 28_080] as const;
