import { dnsPorts } from "../attacks/dns";
import type { Proof } from "../attacks/kind";
import type { Cluster } from "../cluster/client";
import { onePerPod } from "../targets/pods";
import type { Chosen } from "../targets/choose";
import type { Working } from "./allowing-policies";
import { connections } from "./connections";
import { enforcementAdvice, type Inconclusive } from "./outcome";
import { probe } from "./probe";
import type { Question } from "./tools";
import type { Witness } from "./witness";

export interface FromWithinArgs {
    cluster: Cluster;
    proof: Pick<Proof, "outward" | "lookup" | "peers">;
    chosen: Pick<Chosen, "targets" | "peers" | "withoutTool">;
    /** The targets connect to it. */
    witness: Witness;
}

/** Tries what must fail under an attack from within its targets and their peers. */
export class FromWithin {
    constructor(private readonly args: FromWithinArgs) {}

    /** What is tried, as a part of a sentence. */
    get probed(): string {
        const { peers, lookup } = this.args.proof;
        if (peers) return "a fresh connection between the targets and their peers";
        return lookup ? "a DNS lookup in the targets" : "a fresh connection out of the targets";
    }

    /** @param timeoutMs for each connection and lookup @returns what still works */
    async whyWorking(timeoutMs: number): Promise<Inconclusive | undefined> {
        const tried = await this.tryAll(timeoutMs, 0);
        if ("inconclusive" in tried) return tried;
        if (tried.worked === 0) return undefined;
        const inconclusive = `the NetworkPolicy exists, but ${this.probed} still works: ${enforcementAdvice}`;
        return { inconclusive, working: this.working() };
    }

    /**
     * Tries everything, with a time limit for each.
     *
     * @param waitForWitnessMs how long the witness may take to start
     * @returns how many worked
     * @throws Error if the witness does not start
     */
    async tryAll(
        timeoutMs: number,
        waitForWitnessMs: number,
    ): Promise<{ worked: number; failed: number; tookMs: number } | Inconclusive> {
        const { cluster, proof, chosen, witness } = this.args;
        const { outward, lookup, peers } = proof;
        const { targets, peers: peerPods = [], withoutTool = [] } = chosen;
        const questions: Question[] = [];
        if (outward) {
            const host = await witness.address(waitForWitnessMs);
            questions.push({ connect: { host, port: outward.port } });
        }
        if (lookup) questions.push({ lookup: lookup.name });
        const fromTargets = onePerPod(targets)
            .filter(({ pod }) => !withoutTool.includes(pod))
            .flatMap((from) => questions.map((question) => ({ from, question })));
        const isBlocked = (port: number) => peers?.ports?.includes(port) ?? true;
        const between = (peers?.ways ?? []).flatMap((way) =>
            way === "egress" ? connections(targets, peerPods, isBlocked) : connections(peerPods, targets, isBlocked),
        );
        if (peers && between.length === 0)
            return this.couldNot("neither the targets nor their peers declare a TCP port that the attack blocks");

        const begun = performance.now();
        const probes = [...fromTargets, ...between].map(({ from, question }) =>
            probe(cluster, from, question, timeoutMs),
        );
        const results = await Promise.all(probes);
        const tookMs = Math.round(performance.now() - begun);
        const problem = results.find((result) => "problem" in result);
        if (problem) return this.couldNot(problem.problem);
        const worked = results.filter((result) => "worked" in result && result.worked).length;
        return { worked, failed: results.length - worked, tookMs };
    }

    /** Why nothing is known about what is tried. */
    couldNot(problem: string): Inconclusive {
        return { inconclusive: `${this.probed} could not be tried: ${problem}` };
    }

    /** The connections that are tried. */
    private working(): Working {
        const { outward, lookup, peers } = this.args.proof;
        if (peers) return { ways: peers.ways, ports: peers.ports, with: "unknown" };
        if (lookup) return { ways: ["egress"], ports: dnsPorts, with: "outside" };
        return { ways: ["egress"], ports: outward && [outward.port], with: "witness" };
    }
}
