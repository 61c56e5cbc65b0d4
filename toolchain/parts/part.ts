import type { BuildLog } from "./run";

export interface Workshop {
    readonly log: BuildLog;
    /** Builds a part that turned out to be needed only during the build, unless it is there. */
    provide(part: Part): Promise<void>;
}

interface PartCommon {
    /** Unique; the name of its log and the first word of its folder. */
    readonly name: string;
    /** The pinned version, as upstream writes it. */
    readonly version: string;
    /** The text that users read during the build. */
    readonly title: string;
    /** Minutes on two cores with nothing cached; for the estimate of the time left. */
    readonly minutes: number;
    /** Whether Go's compiler makes it. @default false */
    readonly isCompiled?: boolean;
    /** Parts that are built before this one. */
    readonly needs: readonly Part[];
}

/** A part kept in the cache. Its folder's name ends in a hash of the part's inputs. */
export interface StoredPart extends PartCommon {
    readonly kind: "stored";
    /** Inputs that are not files: flags, package lists, image settings. Plain JSON. */
    readonly recipe: unknown;
    /** Input files and folders, relative to `sourceFolder`. */
    readonly sources: readonly string[];
    /** Absolute; not an input. */
    readonly sourceFolder: string;
    /** Whether this machine has an equivalent already. @default it has none */
    isUnneeded?(): boolean;
    /**
     * Builds the part's files in an empty folder, which then becomes the part.
     *
     * @returns facts worth keeping with the part, such as exact versions of Debian packages.
     */
    make(folder: string, workshop: Workshop): Promise<Record<string, string>>;
}

/** A part outside the cache: Debian packages, programs in Pulumi's home. */
export interface InstalledPart extends PartCommon {
    readonly kind: "installed";
    /** Whether it is there. Answers in well under a second. */
    isPresent(): Promise<boolean>;
    install(workshop: Workshop): Promise<void>;
}

export type Part = StoredPart | InstalledPart;

/** The given parts and all that they need, each after those that it needs. */
export function withNeeds(parts: readonly Part[]): Part[] {
    const ordered = new Set<Part>();
    const add = (part: Part) => {
        part.needs.forEach(add);
        ordered.add(part);
    };
    parts.forEach(add);
    return [...ordered];
}
