import type { Fields } from "../fields";
import type { Additions, Draft } from "../imported";

/** What the reader of a kind finds in its spec. The target is read apart from it. */
export interface Read {
    attack: Draft;
    /** Names of the containers. @default all */
    containers?: string[];
    /** Set if it is done at once, so that its duration has no effect there. */
    isAtOnce?: true;
}

export interface Context extends Additions {
    /** Time after which a Schedule does it again. Absent without one, or if that is a time of day. */
    everyMs?: number;
}

/** Undefined if a field is refused on which the others depend. */
export type Reader = (spec: Fields, context: Context) => Read | undefined;
