/** Where the connections and lookups begin that prove an attack: there, something must be tried from within. */
import type { Proof } from "./kind";

export const beginsAtTargets = ({ outward, lookup, peers }: Proof): boolean =>
    outward !== undefined || lookup !== undefined || (peers?.ways.includes("egress") ?? false);

/** What must still work is tried from within the targets, too; but through a Service by the witness alone. */
export const controlsAtTargets = ({ stillWorks: { through: _, ...others } = {} }: Proof): boolean =>
    Object.values(others).some(Boolean);

export const beginsAtPeers = ({ peers }: Proof): boolean => peers?.ways.includes("ingress") ?? false;
