import { dump } from "js-yaml";
import type { KubernetesObject } from "./objects";

/** A file of a rendering. */
export interface RenderedFile {
    /** Below the rendering's folder. */
    path: string;
    text: string;
    /** Whether it holds secrets: then nobody but its owner may read it. @default false */
    secret?: boolean;
}

/** An object as YAML. */
export const yamlOf = (value: unknown) => dump(value, { lineWidth: -1, noRefs: true });

/** Tells an object's file from the others'. */
export const fileNameOf = ({ kind, metadata }: KubernetesObject) => `${kind.toLowerCase()}-${metadata.name}.yaml`;
