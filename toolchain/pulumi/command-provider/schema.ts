import { COMMAND_PROVIDER_VERSION } from "../versions";
import { commandShapes, runShapes, type Shape } from "./inputs";
import { COMMAND, RUN } from "./tokens";

/** Pulumi's package schema of this provider, from the shapes that its inputs are checked against. */
export const providerSchema = {
    name: "command",
    version: COMMAND_PROVIDER_VERSION,
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

function propertiesOf(shapes: Readonly<Record<string, Shape>>): Record<string, object> {
    return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, typeOf(shape)]));
}

function typeOf(shape: Shape): object {
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
