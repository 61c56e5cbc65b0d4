import * as z from "zod";
import { resources } from "../../../cluster/resources";
import type { AttackKind } from "../attack-kind";
import { explainFail, stopContainers } from "./stop-containers";
import { tryFail } from "./try-out";
import { nameOf, type Victim } from "./victim";

/**
 * Stops the targets' containers, and keeps them from running until the end. Their pods stay: nothing replaces them, and
 * Services leave them out.
 */
export interface FailAttack {
    kind: "fail";
}

/**
 * The update stops the containers by their images, which needs no right that labeling pods does not need. The deadline
 * Job watches them, and restores the images with everything else that the run has changed.
 */
export const fail: AttackKind<FailAttack, undefined, Victim[]> = {
    schema: z.strictObject({ kind: z.literal("fail") }),
    examples: [{ kind: "fail" }],
    describe: () => "stopped: its containers do not run, and the pod stays",
    effect: "stopped",
    sparesOthers: true,
    proof: () => ({ stopped: true }),
    // This ConfigMap tells the Job which containers must not run.
    object: resources.configMap,
    restoresTargets: true,
    tryOut: tryFail,
    // The usual grace period of a pod.
    readyMs: 30_000,
    begin: stopContainers,
    reported: ({ chosen: { targets, tried = [] } }) => ({
        hit: [...targets.map(nameOf), ...tried.flatMap(({ endpoints }) => endpoints)],
        spared: [],
        passed: [],
        missing: "was running",
    }),
    explain: explainFail,
};
