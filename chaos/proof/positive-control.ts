import { setTimeout as sleep } from "node:timers/promises";
import type { Proof, Reported, StillWorks } from "../kinds/attacks/attack-kind";
import type { Cluster } from "../cluster/client";
import { problemOf, withoutPeriod } from "../cluster/problem";
import type { Chosen } from "../targets/choose";
import { parseEndpoint, reference } from "../witness/protocol";
import { decisive, reason, type Reason } from "../values/reasons";
import { type Connection, connections, connectionsTo, connectionsToWitness, endpointsOfTargets } from "./connections";
import { probe } from "./run-within";
import type { Witness } from "./witness";

/** Generous: a connection that is slow once, on a busy machine, must not spoil a run. */
const attempts = 3;
const timeoutMs = 1_000;
const pauseMs = 500;

export interface PositiveControlArgs {
    cluster: Cluster;
    proof: Pick<Proof, "stillWorks">;
    /** Without peers that another attack cuts off. */
    chosen: Pick<Chosen, "targets" | "peers" | "control" | "leftOut">;
    witness: Witness;
    /** What else was reached before, and must stay open in the Job's reports. @default nothing */
    reported?: Pick<Reported, "spared" | "passed">;
}

/**
 * Tries what an attack must leave alone: before it, when it is proven, and at the end. Connections into the targets and
 * between pods that are no targets are tried by the witness, all the time.
 */
export class PositiveControl {
    private readonly stillWorks: StillWorks;

    constructor(private readonly args: PositiveControlArgs) {
        this.stillWorks = args.proof.stillWorks ?? {};
    }

    /**
     * Tries everything before the attack.
     *
     * @param waitMs how long the witness may take to start
     * @param patienceMs how long the network may take to let the targets through to the witness, for which the run has
     *     made policies
     * @returns what does not work even then, such as for other policies or a container without tools
     * @throws Error if the witness does not start
     */
    async before(waitMs: number, patienceMs: number): Promise<string[]> {
        const toWitness = await this.toWitness(waitMs);
        const trials = [...toWitness, ...this.others()];
        const failures = await Promise.all(
            trials.map((trial) => this.failure(trial, toWitness.includes(trial) ? patienceMs : 0)),
        );
        return trials.filter((_, index) => failures[index] !== undefined).map(({ name }) => name);
    }

    /** Tries under attack what worked before it. Never rejects. @returns what has failed each time, in a sentence */
    async whyOverreaching(): Promise<Reason | undefined> {
        try {
            const all = [...(await this.toWitness(0)), ...this.others()];
            const trials = all.filter(({ name }) => !this.args.chosen.leftOut?.includes(name));
            const failures = await Promise.all(trials.map((trial) => this.failure(trial)));
            return decisive(failures);
        } catch (error) {
            return couldNotBeTried(problemOf(error));
        }
    }

    /**
     * The connections that the witness has lost under attack. A target may refuse them itself: blocked, since it waits
     * for what the attack takes away. So that counts only if it still does, and accepts one from within.
     *
     * @param since when the attack was seen to work, by the witness's clock
     * @returns the first, in a sentence
     */
    async whyOverreachingByWitness(since: number): Promise<Reason | undefined> {
        const { inward, untouched } = this.stillWorks;
        const { chosen, witness } = this.args;
        const isSpared = (port: number) => inward?.except.includes(port) === false;
        const { spared, passed } = this.args.reported ?? { spared: [], passed: [] };
        const reached = [...spared, ...passed];
        const ofTargets = endpointsOfTargets(chosen.targets, isSpared);
        const names = [...ofTargets, ...(untouched ? [reference] : []), ...reached];
        if (names.length === 0) return undefined;
        const lost = await witness.lostAmong(names, since, reached);
        if (lost.some(({ name }) => name === reference)) return overreach("between pods that are no targets");
        const affected = lost.find(({ name }) => reached.includes(name))?.name;
        if (affected !== undefined) {
            const why = spared.includes(affected) ? ", which is no target" : "";
            const message = `the attack also affects what it should not: ${affected}${why}`;
            return reason("positive-control-failed", message);
        }
        const refusing = lost.flatMap(({ name, still }) => (still ? name : []));
        const accepting = await Promise.all(refusing.map((name) => this.acceptsFromWithin(name)));
        const cutOff = refusing.find((_, index) => accepting[index]);
        return cutOff === undefined ? undefined : overreach(`from another pod to ${cutOff}`);
    }

    /** Whether a target is shown to accept connections from its own container. */
    private async acceptsFromWithin(endpoint: string): Promise<boolean> {
        const { cluster, chosen } = this.args;
        const target = chosen.targets.find((one) => endpointsOfTargets([one]).includes(endpoint))!;
        const result = await probe(cluster, target, { connect: parseEndpoint(endpoint) }, timeoutMs);
        return "worked" in result && result.worked;
    }

    /**
     * Tries something several times, and as long as there is patience for what fails.
     *
     * @returns why it does not work, in a sentence
     */
    private async failure({ name, from, question }: Connection, patienceMs = 0): Promise<Reason | undefined> {
        const giveUpAt = performance.now() + patienceMs;
        let problems = 0;
        for (let attempt = 1; ; attempt++) {
            const result = await probe(this.args.cluster, from, question, timeoutMs);
            if ("worked" in result && result.worked) return undefined;
            problems = "problem" in result ? problems + 1 : 0;
            const isOver = attempt >= attempts && performance.now() > giveUpAt;
            if ("problem" in result && (isOver || problems >= attempts)) return couldNotBeTried(result.problem);
            if (isOver) return overreach(name);
            await sleep(pauseMs);
        }
    }

    private async toWitness(waitMs: number): Promise<Connection[]> {
        const { outward } = this.stillWorks;
        if (!outward) return [];
        return connectionsToWitness(await this.args.witness.addresses(waitMs), outward.port, this.args.chosen.targets);
    }

    /** To and from peers, and to the control. */
    private others(): Connection[] {
        const { peers } = this.stillWorks;
        const { targets, peers: peerPods = [] } = this.args.chosen;
        const trials: Connection[] = [];
        for (const way of peers?.ways ?? []) {
            const [from, to] = way === "egress" ? [targets, peerPods] : [peerPods, targets];
            trials.push(...connections(from, to, (port) => !peers!.except.includes(port)));
        }
        const { control } = this.args.chosen;
        return control ? [...trials, ...connectionsTo(control, targets)] : trials;
    }
}

function overreach(connection: string): Reason {
    return reason(
        "positive-control-failed",
        `the attack blocks more than it should: a fresh connection ${connection} worked before it, and fails under it`,
    );
}

const couldNotBeTried = (problem: string): Reason =>
    reason("probe-failed", `what must still work under the attack could not be tried: ${withoutPeriod(problem)}`);
