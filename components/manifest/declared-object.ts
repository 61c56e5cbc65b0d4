import * as pulumi from "@pulumi/pulumi";
import type { ManifestObject } from "./read";

interface DeclaredObjectArgs {
    /** @default none: the object is cluster-wide */
    namespace?: pulumi.Input<string>;
    /** @default the object's own */
    labels?: Record<string, string>;
    /** Beside the object's own. @default none */
    annotations?: Record<string, pulumi.Input<string>>;
    /** Which fields and annotations the engine treats as secrets, beside all of a Secret. @default no others */
    isSecret?: (value: unknown) => boolean;
}

/** `k8s.apiextensions.CustomResource` has no types for the core group's objects. */
class DeclaredObject extends pulumi.CustomResource {}

/**
 * The objects of a manifest as resources of a component.
 *
 * @param prefix of their names
 * @param isFirst selects the objects that all others depend on
 * @returns resolves when all objects are in the cluster
 */
export function declareObjects(
    prefix: string,
    objects: readonly ManifestObject[],
    isFirst: (object: ManifestObject) => boolean,
    argsOf: (object: ManifestObject) => DeclaredObjectArgs,
    opts: pulumi.CustomResourceOptions,
): pulumi.Output<unknown> {
    const make = (object: ManifestObject, dependsOn: pulumi.Resource[]) => {
        const { apiVersion, kind, metadata, ...fields } = object;
        const { namespace, labels = metadata.labels, annotations: more, isSecret } = argsOf(object);
        // An annotation may repeat them: kubectl.kubernetes.io/last-applied-configuration has the whole object.
        const isHidden = (value: unknown) => kind === "Secret" || isSecret?.(value) === true;
        const own = withSecrets(metadata.annotations, isHidden);
        // awaitReady waits for all objects together and reports the pods that do not become ready.
        const annotations = { ...own, ...more, "pulumi.com/skipAwait": "true" };
        const props = {
            apiVersion,
            kind,
            // Never empty labels: for a Secret the provider would report a change in every update.
            metadata: { ...metadata, namespace, annotations, labels },
            ...withSecrets(fields, isHidden),
        };
        const name = [prefix, kind.toLowerCase(), metadata.namespace, metadata.name].filter(Boolean).join("-");
        return new DeclaredObject(typeOf(object), name, props, { ...opts, dependsOn });
    };
    const first = objects.filter(isFirst).map((object) => make(object, []));
    const others = objects.filter((object) => !isFirst(object)).map((object) => make(object, first));
    return pulumi.all([...first, ...others].map(({ id }) => id));
}

/** The provider's name for an object's type, with `core` for objects without a group: `kubernetes:core/v1:Secret`. */
function typeOf({ apiVersion, kind }: ManifestObject): string {
    return `kubernetes:${apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`}:${kind}`;
}

function withSecrets(
    fields: Record<string, unknown> = {},
    isSecret: (value: unknown) => boolean,
): Record<string, pulumi.Input<unknown>> {
    return Object.fromEntries(
        Object.entries(fields).map(([field, value]) => [field, isSecret(value) ? pulumi.secret(value) : value]),
    );
}
