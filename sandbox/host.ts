import { unsuitableBecause } from "../toolchain/parts/host";

const alternatives =
    "Use another local cluster and make it the current context: `kind create cluster`, `minikube start`, " +
    "or Kubernetes in Docker Desktop's settings.";

/** The sandbox cannot run on this machine. The message gives the reason and the alternatives. */
class UnsuitableHostError extends Error {
    constructor(reason: string) {
        super(`The sandbox cannot run on this machine: ${reason} ${alternatives}`);
        this.name = "UnsuitableHostError";
    }
}

/**
 * Checks that the sandbox can run on this machine, before anything is done.
 *
 * @throws {UnsuitableHostError} without Linux, root, apt or a supported architecture.
 */
export function requireSandboxHost(): void {
    const reason = unsuitableBecause();
    if (reason) throw new UnsuitableHostError(reason);
}
