/**
 * The file that holds a TypeScript program and all that it imports, for Node. Made where it is not there yet: esbuild
 * takes longer to bundle the programs than the whole rest of the stack's program takes to run.
 *
 * @param entry path of the file that begins the program, in `services/`, `experiments/` or `sandbox/pulumi/`, or of a package's file
 * @throws Error where the program does not compile
 */
export declare function bundledFile(entry: string): string;

/** The same file packed by Brotli. @throws Error where the program does not compile */
export declare function packedFile(entry: string): string;

/**
 * Loads what `bundledFile` makes, once, as `require` does, but with what V8 made of it the last time: of several megabytes,
 * compiling is most of what loading takes.
 *
 * @throws Error where the program does not compile
 */
export declare function requireBundled(entry: string): unknown;

/**
 * The JavaScript of one of the TypeScript files that are run as they are: the stack's program, and the programs of
 * `npm run`. Nothing checks their types here.
 *
 * @throws Error where a file does not compile, or is none of these
 */
export declare function compiledFile(file: string): string;
