import * as pulumi from "@pulumi/pulumi";

/** Makes a stack the running one, as in its program. Test files share a process: each says which it means. */
export const runAs = (stack: string): Promise<void> =>
    pulumi.runtime.setMocks(
        { newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }), call: () => ({}) },
        "chaos-shop",
        stack,
    );
