import * as pulumi from "@pulumi/pulumi";
import type { ManifestObject } from "./read";

export interface DeclaredObjectArgs {
    object: ManifestObject;
    /** Where it goes. Undefined: it belongs to no namespace. */
    namespace?: pulumi.Input<string>;
    /** @default the object's own */
    labels?: Record<string, string>;
    /** Which of its fields and annotations are secrets to the engine. @default all fields of a Secret */
    isSecret?: (value: unknown) => boolean;
}

/** An object of a manifest as a resource of the stack. The class for those of custom kinds does not know the core group's types. */
export class DeclaredObject extends pulumi.CustomResource {
    constructor(
        name: string,
        { object, namespace, labels = object.metadata.labels, isSecret = () => false }: DeclaredObjectArgs,
        opts?: pulumi.CustomResourceOptions,
    ) {
        const { apiVersion, kind, metadata, ...fields } = object;
        // What does not get ready is told of by a wait of our own, for all objects together.
        const annotations = { ...keptSecret(metadata.annotations, isSecret), "pulumi.com/skipAwait": "true" };
        super(
            typeOf(object),
            name,
            {
                apiVersion,
                kind,
                // Never empty labels: of a Secret the provider would take those for a change, in each update.
                metadata: { ...metadata, namespace, annotations, labels },
                ...keptSecret(fields, (value) => kind === "Secret" || isSecret(value)),
            },
            opts,
        );
    }
}

/** Tells an object from the others of its manifest. */
export function resourceNameOf(prefix: string, { kind, metadata }: ManifestObject): string {
    return [prefix, kind.toLowerCase(), metadata.namespace, metadata.name].filter(Boolean).join("-");
}

/** The provider's name for an object's type; of those without a group it is `kubernetes:core/v1:Secret`. */
function typeOf({ apiVersion, kind }: ManifestObject): string {
    return `kubernetes:${apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`}:${kind}`;
}

/** The same fields, those that a test tells as secrets to the engine. */
function keptSecret(
    fields: Record<string, unknown> = {},
    isSecret: (value: unknown) => boolean,
): Record<string, pulumi.Input<unknown>> {
    return Object.fromEntries(
        Object.entries(fields).map(([field, value]) => [field, isSecret(value) ? pulumi.secret(value) : value]),
    );
}
