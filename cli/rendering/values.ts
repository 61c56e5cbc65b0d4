import type { StackConfiguration } from "../../components/configuration/read";
import { type Key, settings } from "../../components/configuration/settings";

/** The settings that a user of the chart can change, as values of the same names. Rendering fixes all others. */
const open = [
    "ingress.hosts",
    "ingress.class",
    "ingress.tlsSecret",
    "ingress.annotations",
    "gateway.serviceType",
    "images.node",
    "images.postgres",
    "images.nats",
] as const satisfies Key[];

type OpenKey = (typeof open)[number];

/**
 * The chart's template expression for a value. The cast lets it stand for an argument with a union type, such as a
 * Service's type: components copy their arguments into objects without reading them.
 */
export const expressionOf = <T extends string = string>(key: OpenKey) => `{{ .Values.${key} }}` as T;

/** The chart's values.yaml, with the stack's settings as defaults and their meanings as comments. */
export function valuesFile({ ingress, gateway, images }: StackConfiguration): string {
    const values: Record<OpenKey, string | string[] | Record<string, string>> = {
        "ingress.hosts": ingress?.hosts ?? [],
        "ingress.class": ingress?.class ?? "",
        "ingress.tlsSecret": ingress?.tlsSecret ?? "",
        "ingress.annotations": ingress?.annotations ?? {},
        "gateway.serviceType": gateway.serviceType,
        "images.node": images.node,
        "images.postgres": images.postgres,
        "images.nats": images.nats,
    };
    const groups = [...new Set(open.map((key) => key.split(".")[0]!))];
    return groups
        .map((group) => {
            const ofGroup = open.filter((key) => key.startsWith(`${group}.`));
            const lines = ofGroup.map(
                (key) =>
                    `  # ${settings[key].meaning}\n  ${key.slice(group.length + 1)}: ${JSON.stringify(values[key])}\n`,
            );
            return `${group}:\n${lines.join("")}`;
        })
        .join("");
}

const texts = { type: "string" };
const image = { type: "string", minLength: 1 };

/** Helm validates a user's values with this. */
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
