import type { Remedy } from "./story";

/** Two more pods, while an attack of one pod is on. @param lost completes "the one that is …" */
export const threePods = (workload: string, lost = "cut off"): Remedy => ({
    what: `Three pods of ${workload}: the cluster routes around the one that is ${lost}.`,
    settings: { [`replicas.${workload}`]: "3" },
});

const gracefulStop = { "shutdown.delay": "5s" };

export const threePodsThatStopGracefully = (workload: string): Remedy => ({
    what: `Three pods of ${workload}, which go on serving while they stop.`,
    settings: { [`replicas.${workload}`]: "3", ...gracefulStop },
});

export const threePodsWithBudget = (workload: string): Remedy => ({
    what:
        `Three pods of ${workload}, and the PodDisruptionBudget that the shop then has for them: it lets one go at ` +
        "a time.",
    settings: { [`replicas.${workload}`]: "3", ...gracefulStop },
});

export const stopGracefully: Remedy = {
    what: "A stopping pod goes on serving until the cluster sends it no more requests.",
    settings: gracefulStop,
};

export const outbox: Remedy = {
    what: "An order is in the database before it is accepted, and is sent until it is settled.",
    compare: "orders-without-database",
};
