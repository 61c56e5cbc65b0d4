import { parseAttributes } from "../chaos/targets/attributes";
import { type Discovered, ownerOf } from "../chaos/targets/containers";
import { alignedRows } from "./print";
import { targetsProgram } from "./programs";

export interface TargetsOptions {
    json: boolean;
    /** A target must match all of them. */
    expressions: string[];
    stack: string;
    /** The shop's namespace. @default the one in the stack's file */
    namespace?: string;
}

/** Parses the arguments of `npm run targets`. @throws Error with what is wrong */
export function targetsOptions(args: string[]): TargetsOptions {
    const { json = false, ...place } = targetsProgram.read<Omit<TargetsOptions, "expressions">>(args);
    targetsProgram.args.forEach((expression) => parseAttributes(expression));
    return { json, ...place, expressions: targetsProgram.args };
}

const head = ["NAMESPACE", "OWNER", "POD", "CONTAINER", "READY", "NODE"];

/** Containers as the lines of a table: first its head, last how many they are. */
export function targetsTable(found: readonly Discovered[]): string[] {
    const rows = found
        .map(({ namespace, pod, container, ready, attributes }) => [
            namespace,
            ownerOf(attributes) ?? "",
            pod,
            container,
            ready ? "yes" : "no",
            String(attributes["host.hostname"]),
        ])
        .sort((a, b) => a.join("\0").localeCompare(b.join("\0")));
    const notReady = found.filter(({ ready }) => !ready).length;
    const leftOut = notReady === 0 ? "" : `, ${notReady} not ready: attacks leave them out by default`;
    return [...alignedRows([head, ...rows]), `${found.length} container${found.length === 1 ? "" : "s"}${leftOut}`];
}
