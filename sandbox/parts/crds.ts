import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import type { KubernetesObject } from "../node/api";

/** The objects of the YAML files in a folder and those below it. */
export function crdsIn(folder: string): KubernetesObject[] {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".yaml"))
        .sort()
        .flatMap((file) => loadAll(readFileSync(join(folder, file), "utf8")) as KubernetesObject[]);
}
