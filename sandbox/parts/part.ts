import type { BuildLog } from "./run";

/** The names of all parts; a part's name is its log's and the first word of its folder's too. */
export type PartName =
    | "debian-packages"
    | "go"
    | "kube"
    | "kube-router"
    | "coredns"
    | "image-base"
    | "image-node"
    | "image-postgres"
    | "image-nats"
    | "image-pause"
    | "image-coredns"
    | "pulumi-cli"
    | "pulumi-cli-build"
    | "pulumi-kubernetes"
    | "pulumi-kubernetes-build"
    | "pulumi-command"
    | "helm";

/** What a part is made with. */
export interface Workshop {
    readonly log: BuildLog;
    /** The folder of a stored part, whether it is made or not. */
    folderOf(name: PartName): string;
    /** Sees to it that a part is there which only turned out to be needed on the way. */
    provide(name: PartName): Promise<void>;
}

/** What every part says of itself. */
interface PartCommon {
    readonly name: PartName;
    /** The pinned version, as its makers write it. */
    readonly version: string;
    /** What people read while it is made. */
    readonly title: string;
    /** Minutes it takes on two cores with nothing cached; for the estimate of what is left. */
    readonly minutes: number;
    /** Parts that must be there before it can be made. */
    readonly needs: readonly PartName[];
}

/** A part kept in the cache, in a folder of its own whose name carries a hash of all that goes into it. */
export interface StoredPart extends PartCommon {
    readonly kind: "stored";
    /** All that decides the outcome beside files: flags, lists of packages, image settings. Plain JSON. */
    readonly recipe: unknown;
    /** Files and folders that go into it, under sandbox/. */
    readonly sources: readonly string[];
    /** Whether this machine has one of its own that serves as well. @default it has not */
    isUnneeded?(): boolean;
    /**
     * Makes the part's files in an empty folder, which becomes the part once this is done.
     *
     * @returns facts worth keeping with the part, such as the exact versions of what a distribution delivered.
     */
    make(folder: string, workshop: Workshop): Promise<Record<string, string>>;
}

/** A part that lies elsewhere on this machine: Debian packages, Pulumi's own home. */
export interface InstalledPart extends PartCommon {
    readonly kind: "installed";
    /** Whether it is there, found out in well under a second. */
    isPresent(): Promise<boolean>;
    /** Puts it there. */
    install(workshop: Workshop): Promise<void>;
}

export type Part = StoredPart | InstalledPart;
