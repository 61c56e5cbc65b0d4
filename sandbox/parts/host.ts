import { isProgram } from "./debian";
import { GO_ARCHITECTURE } from "./architecture";

/** What decides whether the sandbox can run on a machine. */
export interface HostFacts {
    readonly platform: NodeJS.Platform;
    readonly architecture: string;
    /** Undefined where a platform has no user numbers. */
    readonly userId: number | undefined;
    readonly hasApt: boolean;
}

/** The ways on for whoever cannot have the sandbox; any of them serves the shop as well. */
const WAYS_ON =
    "Use a local cluster instead, and make it the current context: `kind create cluster`, `minikube start`, " +
    "or Kubernetes in Docker Desktop's settings.";

/** A machine that cannot run the sandbox; its message is one sentence that says why, and the ways on. */
export class UnsuitableHostError extends Error {
    constructor(reason: string) {
        super(`${reason} ${WAYS_ON}`);
        this.name = "UnsuitableHostError";
    }
}

/**
 * Sees to it that the sandbox can be set up on this machine at all, before anything is done.
 *
 * @throws {UnsuitableHostError} on anything but Linux, without root, without apt, on an unknown architecture.
 */
export function requireSandboxHost(facts: HostFacts = thisHost()): void {
    const reason = unsuitableBecause(facts);
    if (reason) throw new UnsuitableHostError(reason);
}

/** Why a machine cannot run the sandbox, or nothing if it can. */
export function unsuitableBecause(facts: HostFacts = thisHost()): string | undefined {
    const { platform, architecture, userId, hasApt } = facts;
    if (platform !== "linux") return `The sandbox runs on Linux only, and this is ${platform}.`;
    if (!GO_ARCHITECTURE[architecture]) {
        return `The sandbox runs on ${Object.keys(GO_ARCHITECTURE).join(" and ")}, and this is ${architecture}.`;
    }
    if (!hasApt) return "The sandbox installs what it needs with apt-get (Debian, Ubuntu), and there is none here.";
    if (userId !== 0) return `The sandbox must be run by root (\`sudo -E\`), and this is user ${userId}.`;
    return undefined;
}

function thisHost(): HostFacts {
    return {
        platform: process.platform,
        architecture: process.arch,
        userId: process.getuid?.(),
        hasApt: isProgram("apt-get"),
    };
}
