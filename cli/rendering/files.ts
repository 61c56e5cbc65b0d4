import { dump } from "js-yaml";
import type { KubernetesObject } from "./collect";

/** A file of a rendering. */
export interface RenderedFile {
    /** Relative to the rendering's folder. */
    path: string;
    text: string;
    /** Whether it contains secrets: only its owner may read it. @default false */
    secret?: boolean;
}

export const yamlOf = (value: unknown) => dump(value, { lineWidth: -1, noRefs: true });

/** A file name that is unique within a rendering. */
export const fileNameOf = ({ kind, metadata }: KubernetesObject) => `${kind.toLowerCase()}-${metadata.name}.yaml`;
