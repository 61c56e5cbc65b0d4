/** What the run finds in the targets of a `fail` before it, and tells the deadline Job. */
import type { Target } from "../../../targets/containers";

/** A container that is to be stopped. */
export interface Victim extends Pick<Target, "pod" | "uid" | "container"> {
    /** Its image. */
    image: string;
    /** How often it was restarted before the attack. Another number later says that it ran meanwhile. */
    restarts: number;
    /** Where it alone of its pod accepts connections: endpoints, as the Job's reports have them. */
    endpoints: readonly string[];
}

/** What the Job's reports call a container that must not run. */
export const nameOf = ({ pod, container }: Pick<Target, "pod" | "container">) => `the container ${pod}/${container}`;
