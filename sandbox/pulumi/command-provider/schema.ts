import { commandShapes, runShapes } from "./inputs";
import { COMMAND, COMMAND_VERSION, RUN } from "./tokens";

type Shapes = typeof commandShapes;

/** Pulumi's package schema of what this provider has, made from the very shapes that its inputs are checked against. */
export const providerSchema = {
    name: "command",
    version: COMMAND_VERSION,
    resources: {
        [COMMAND]: {
            description: "A local command, run when it is created, updated and deleted.",
            inputProperties: propertiesOf(commandShapes),
            properties: { ...propertiesOf(commandShapes), ...outputs() },
            required: ["stdout", "stderr"],
        },
    },
    functions: {
        [RUN]: {
            description: "A local command that runs at every preview and update.",
            inputs: { type: "object", properties: propertiesOf(runShapes), required: ["command"] },
            outputs: {
                type: "object",
                properties: { ...propertiesOf(runShapes), ...outputs() },
                required: ["command", "stdout", "stderr"],
            },
        },
    },
};

function propertiesOf(shapes: Shapes): Record<string, object> {
    return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, typeOf(shape)]));
}

function typeOf(shape: Shapes[string]): object {
    switch (shape) {
        case "string":
        case "logging":
            return { type: "string" };
        case "boolean":
            return { type: "boolean" };
        case "strings":
            return { type: "array", items: { type: "string" } };
        case "strings by name":
            return { type: "object", additionalProperties: { type: "string" } };
        case "any list":
            return { type: "array", items: { $ref: "pulumi.json#/Any" } };
    }
}

function outputs(): Record<string, object> {
    return {
        stdout: { type: "string" },
        stderr: { type: "string" },
        assets: { type: "object", additionalProperties: { $ref: "pulumi.json#/Asset" } },
        archive: { $ref: "pulumi.json#/Archive" },
    };
}
