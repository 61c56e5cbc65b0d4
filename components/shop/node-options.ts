/**
 * Node's options for the shop's programs.
 *
 * - V8 sizes its heap by the machine's memory: on a large machine it grows past 100 MB under load. With these sizes a
 *   program stays near 95 MB. Half the semi-space doubles the gateway's p99 latency: a request's objects often outlive
 *   the young generation then.
 * - The program's own thread collects young objects. Parallel collection waits until each helper thread gets a
 *   processor: under load that took 5 to 10 ms instead of 1 ms, and all requests waited.
 */
export const nodeOptions = ["--max-semi-space-size=8", "--max-old-space-size=48", "--no-parallel-scavenge"];
