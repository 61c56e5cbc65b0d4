/**
 * How Node runs the shop's programs.
 *
 * - V8 sizes its heap by the machine's memory: on a large one it would grow past 100 MB under load before it collects. With
 *   these sizes a program stays near 95 MB. With half of the semi-space what a request needs is often kept for longer than
 *   that, and its collection doubles the gateway's 99th percentile.
 * - Young objects are collected by the program's own thread alone. Shared among threads it ends when the last of them has had
 *   a processor, which under load others have: a collection of 1 ms took 5 to 10 then, and all requests waited for it.
 */
export const nodeOptions = ["--max-semi-space-size=8", "--max-old-space-size=48", "--no-parallel-scavenge"];
