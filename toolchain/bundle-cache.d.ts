/** The repository's folder. */
export const project: string;

/** The path of a bundle, whether or not it is there. @param entry path of the file that begins the program */
export function bundlePath(entry: string, ending: string): string;

/** The file beside a bundle with the hashes of the bundle and its sources. */
export function hashesPath(bundle: string): string;

/**
 * The hash of a file's content, or of the names of sources in a folder.
 *
 * @param path below the project, because it may be moved
 */
export function hashOf(path: string): string;

/** Whether a bundle is of its sources as they are now. Not if the list of hashes is incomplete. */
export function isCurrent(bundle: string): boolean;
