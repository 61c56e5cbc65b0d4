import { setTimeout as sleep } from "node:timers/promises";
import type { Proof } from "../attacks/kind";
import type { Cluster } from "../cluster/client";
import { targetLabelOf } from "../cluster/labels";
import { problemOf } from "../cluster/problem";
import type { Chosen } from "../targets/choose";
import { attackable, containersOf, type Target } from "../targets/containers";
import { connections, socketsOf } from "./connections";
import { overreachAdvice, type InconclusiveReason } from "./outcome";
import { probe, type ProbeResult, type Question } from "./probe";
import type { Witness } from "./witness";

/** Generous: a connection that is slow once, on a busy machine, must not spoil a run. */
const attempts = 3;
const timeoutMs = 1_000;
const pauseMs = 500;

/** How many untouched pods are tried. One that answers is enough: the attack may have made others crash. */
const maxUntouched = 5;

/** Where a connection is tried from. */
type Place = Pick<Target, "namespace" | "pod" | "container">;

interface Trial {
    /** As a part of a sentence: "from hot-deals-1/hot-deals to another pod". */
    name: string;
    from: Place;
    /** One that works is enough. */
    questions: Question[];
}

/**
 * Tries what an attack must leave alone: before it, when it is proven, and at the end. Connections into the targets are
 * tried by the witness, all the time.
 */
export class PositiveControl {
    private readonly stillWorks: NonNullable<Proof["stillWorks"]>;

    constructor(
        private readonly cluster: Cluster,
        { stillWorks = {} }: Proof,
        private readonly chosen: Pick<Chosen, "targets" | "peers">,
        private readonly witness: Witness,
        /** Names of trials that did not work before the attack: they say nothing about it. */
        private readonly leftOut: readonly string[] = [],
    ) {
        this.stillWorks = stillWorks;
    }

    /**
     * Tries everything before the attack.
     *
     * @param waitMs how long the witness may take to start
     * @returns what does not work even then, for whatever reason: other policies, or no tool in the container
     * @throws Error if the witness does not start
     */
    async before(waitMs: number): Promise<string[]> {
        const trials = await this.trials(waitMs);
        const failures = await Promise.all(trials.map((trial) => this.failure(trial)));
        return trials.filter((_, index) => failures[index] !== undefined).map(({ name }) => name);
    }

    /** Tries under attack what worked before it. Never rejects. @returns what has failed each time, in a sentence */
    async lost(): Promise<InconclusiveReason | undefined> {
        try {
            const trials = (await this.trials(0)).filter(({ name }) => !this.leftOut.includes(name));
            const failures = await Promise.all(trials.map((trial) => this.failure(trial)));
            return failures.find((failure) => failure !== undefined);
        } catch (error) {
            return couldNotBeTried(problemOf(error));
        }
    }

    /**
     * The connections into the targets that the witness has lost under attack.
     *
     * @param since when the attack was seen to work, by the witness's clock
     * @returns the first, in a sentence
     */
    async lostInward(since: number): Promise<InconclusiveReason | undefined> {
        const { inward } = this.stillWorks;
        if (!inward) return undefined;
        const sockets = socketsOf(this.chosen.targets).filter(({ port }) => !inward.except.includes(port));
        const lost = await this.witness.lostAmong(sockets, since);
        return lost === undefined ? undefined : overreach(`from another pod to ${lost}`);
    }

    /** Tries something several times. @returns why it does not work, in a sentence */
    private async failure({ name, from, questions }: Trial): Promise<InconclusiveReason | undefined> {
        let results: ProbeResult[] = [];
        for (let attempt = 1; attempt <= attempts; attempt++) {
            if (attempt > 1) await sleep(pauseMs);
            results = await Promise.all(questions.map((question) => probe(this.cluster, from, question, timeoutMs)));
            if (results.some((result) => "worked" in result && result.worked)) return undefined;
        }
        const untried = results.find((result) => "problem" in result);
        return untried ? couldNotBeTried(untried.problem) : overreach(name);
    }

    private async trials(waitMs: number): Promise<Trial[]> {
        const { outward, peers, untouched } = this.stillWorks;
        const { targets, peers: peerPods = [] } = this.chosen;
        const trials: Trial[] = [];
        if (outward) {
            const question = { connect: { host: (await this.witness.place(waitMs)).address, port: outward.port } };
            for (const from of targets)
                trials.push({ name: `from ${nameOf(from)} to another pod`, from, questions: [question] });
        }
        for (const way of peers?.ways ?? []) {
            const [from, to] = way === "egress" ? [targets, peerPods] : [peerPods, targets];
            for (const { from: place, question } of connections(from, to, (port) => !peers!.except.includes(port))) {
                const { host, port } = question.connect;
                const name = `from ${nameOf(place)} to ${host} at port ${port}`;
                trials.push({ name, from: place, questions: [question] });
            }
        }
        if (untouched) {
            const questions = await this.untouched();
            const from = await this.witness.place(waitMs);
            if (questions.length > 0) trials.push({ name: "between pods that are no targets", from, questions });
        }
        return trials;
    }

    /** Connections to some pods of the targets' namespace that no experiment attacks. */
    private async untouched(): Promise<Question[]> {
        const namespace = this.chosen.targets[0]!.namespace;
        const { items } = await this.cluster.core.listNamespacedPod({ namespace });
        const others = items.filter((pod) => attackable(pod) && targetLabelOf(pod) === undefined);
        const sockets = others.flatMap((pod) => socketsOf(containersOf(pod, undefined, "")).slice(0, 1));
        return sockets.slice(0, maxUntouched).map((connect) => ({ connect }));
    }
}

const nameOf = ({ pod, container }: Place) => `${pod}/${container}`;

function overreach(connection: string): InconclusiveReason {
    return (
        `the attack blocks more than it should: a fresh connection ${connection} worked before it, and fails under ` +
        `it: ${overreachAdvice}`
    );
}

const couldNotBeTried = (problem: string): InconclusiveReason =>
    `what must still work under the attack could not be tried: ${problem.replace(/\.$/, "")}`;
