import { unsuitableBecause } from "../toolchain/parts/host";

/**
 * Checks that the sandbox can run on this machine, before anything is done.
 *
 * @throws Error without Linux, root, apt or a supported architecture: the reason, and the alternatives.
 */
export function requireSandboxHost(): void {
    const reason = unsuitableBecause();
    if (reason === undefined) return;
    throw new Error(
        `The sandbox cannot run on this machine: ${reason} Use another local cluster and make it the current ` +
            "context: `kind create cluster`, `minikube start`, or Kubernetes in Docker Desktop's settings.",
    );
}
