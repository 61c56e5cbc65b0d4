import { holdsSecret, type Properties, secret, UNKNOWN } from "./values";

/** The state after a run. If any input is a secret, all outputs are: a command may print its inputs. */
export function withOutputs(inputs: Properties, outputs: Properties): Properties {
    const mark = (value: Properties[string]) => (value !== undefined && holdsSecret(inputs) ? secret(value) : value);
    const marked = Object.entries(outputs).map(([name, value]) => [name, mark(value)] as const);
    return { ...inputs, ...Object.fromEntries(marked) };
}

/** The state in a preview: nothing ran, and no output is known. */
export function unknownOutputs(inputs: Properties): Properties {
    return withOutputs(inputs, {
        stdout: UNKNOWN,
        stderr: UNKNOWN,
        assets: inputs.assetPaths === undefined ? undefined : UNKNOWN,
        archive: inputs.archivePaths === undefined ? undefined : UNKNOWN,
    });
}
