import { type Discovered, ownerOf } from "../chaos/targets/containers";
import { alignedRows } from "./print";

const head = ["NAMESPACE", "OWNER", "POD", "CONTAINER", "READY", "NODE"];

/** Containers as the lines of a table: first its head, last how many they are. */
export function targetsTable(found: readonly Discovered[]): string[] {
    const rows = found
        .map(({ namespace, pod, container, ready = true, attributes }) => [
            namespace,
            ownerOf(attributes) ?? "",
            pod,
            container,
            ready ? "yes" : "no",
            String(attributes["host.hostname"]),
        ])
        .sort((a, b) => a.join("\0").localeCompare(b.join("\0")));
    const notReady = found.filter(({ ready }) => ready === false).length;
    const leftOut = notReady === 0 ? "" : `, ${notReady} not ready: attacks leave them out by default`;
    return [...alignedRows([head, ...rows]), `${found.length} container${found.length === 1 ? "" : "s"}${leftOut}`];
}
