/** Node's options for the proxy's program. */
export const nodeFlags = ["--max-semi-space-size=1", "--max-old-space-size=32"];
