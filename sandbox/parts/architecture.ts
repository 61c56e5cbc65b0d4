/** Go's, Debian's and the OCI's common names for the architectures that Node knows by others; the ones supported. */
export const GO_ARCHITECTURE: Partial<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
