import { holdsSecret, type Properties, secret, UNKNOWN } from "./values";

/** The state after a run: each output is a secret as soon as one input is, for a command may print what it is given. */
export function withOutputs(inputs: Properties, outputs: Properties): Properties {
    const mark = (value: Properties[string]) => (value !== undefined && holdsSecret(inputs) ? secret(value) : value);
    const marked = Object.entries(outputs).map(([name, value]) => [name, mark(value)]);
    return { ...inputs, ...Object.fromEntries(marked) };
}

/** What a preview can say: nothing was run, so that no output is known. */
export function unknownOutputs(inputs: Properties): Properties {
    return withOutputs(inputs, {
        stdout: UNKNOWN,
        stderr: UNKNOWN,
        assets: inputs.assetPaths === undefined ? undefined : UNKNOWN,
        archive: inputs.archivePaths === undefined ? undefined : UNKNOWN,
    });
}
