import type { StackConfiguration } from "../../components/configuration/read";
import { type Key, settings } from "../../components/configuration/settings";

/**
 * The chart's template expression for a value, which has the name of its setting. The cast lets it stand for an
 * argument with a union type, such as a Service's type: components copy their arguments into objects without reading
 * them.
 */
export const expressionOf = <T extends string = string>(key: Key) => `{{ .Values.${key} }}` as T;

/**
 * The chart's values.yaml: what a user of the chart can change, with the stack's settings as defaults and their
 * meanings as comments. Rendering fixes all other settings.
 */
export function valuesFile({ ingress, gateway, images }: StackConfiguration): string {
    const values = {
        ingress: {
            hosts: ingress?.hosts ?? [],
            class: ingress?.class ?? "",
            tlsSecret: ingress?.tlsSecret ?? "",
            annotations: ingress?.annotations ?? {},
        },
        gateway: { serviceType: gateway.serviceType },
        images: { node: images.node, postgres: images.postgres, nats: images.nats },
    };
    const groups = Object.entries(values).map(([group, entries]) => {
        const lines = Object.entries(entries).map(([name, value]) => {
            const { meaning } = settings[`${group}.${name}` as Key];
            return `  # ${meaning}\n  ${name}: ${JSON.stringify(value)}\n`;
        });
        return `${group}:\n${lines.join("")}`;
    });
    return groups.join("");
}

const texts = { type: "string" };
const image = { type: "string", minLength: 1 };

export const valuesSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
        ingress: {
            type: "object",
            properties: {
                hosts: {
                    type: "array",
                    items: {
                        type: "string",
                        maxLength: 253,
                        pattern:
                            "^(\\*\\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\.)*[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
                    },
                },
                class: texts,
                tlsSecret: texts,
                annotations: { type: "object", additionalProperties: texts },
            },
        },
        gateway: {
            type: "object",
            properties: { serviceType: { enum: settings["gateway.serviceType"].allowed.split(", ") } },
        },
        images: { type: "object", properties: { node: image, postgres: image, nats: image } },
    },
};
