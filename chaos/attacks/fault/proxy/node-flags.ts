/**
 * Node's options for the proxy's program. Its peak, with 16 connections that ask as fast as they can, is 90 MB without
 * any, 48 MB of which Node alone takes:
 *
 * - With the first it is 66 to 69 MB: garbage is collected earlier.
 * - With the last it is 63 MB: V8 compiles one function at a time. Throughput stays the same.
 *
 * The second makes room for some 9,000 open connections, which take 8 KB each: 4,000 lead to 94 MB. With 16 MB the
 * program ends at less than 2,000. Give the container 160 MiB.
 */
export const nodeFlags = ["--max-semi-space-size=1", "--max-old-space-size=96", "--no-concurrent-recompilation"];
