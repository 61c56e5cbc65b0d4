import type { Remedy } from "./story";

/** Two more pods, while an attack of one pod is on. */
export const threePods = (workload: string): Remedy => ({
    what: `Three pods of ${workload}.`,
    settings: { [`replicas.${workload}`]: "3" },
});

const gracefulStop = { "shutdown.delay": "5s" };

export const threePodsThatStopGracefully = (workload: string): Remedy => ({
    what: `Three pods of ${workload}, which go on serving while they stop.`,
    settings: { [`replicas.${workload}`]: "3", ...gracefulStop },
});

export const threePodsWithBudget = (workload: string): Remedy => ({
    what: `Three pods of ${workload}, and the PodDisruptionBudget that the shop then has: it lets one go at a time.`,
    settings: { [`replicas.${workload}`]: "3", ...gracefulStop },
});

export const stopGracefully: Remedy = {
    what: "Stopping pods that serve until no more requests come.",
    settings: gracefulStop,
};

export const outbox: Remedy = {
    what: "Orders are in the database, and are sent until they are settled.",
    compare: "orders-without-database",
};
