import { styleText } from "node:util";
import type { Cluster } from "../chaos/cluster/client";
import { askAgents, findAgents } from "../chaos/targets/agents";
import { checkedAttributes } from "../chaos/targets/attributes";
import { type Discovered, ownerOf, select } from "../chaos/targets/containers";
import { containersByApiServer, protectedNamespaces } from "../chaos/targets/discover";
import { nodesFor, onNodes } from "../chaos/targets/nodes";
import { alignedRows } from "../chaos/values/aligned";
import { npmCommand } from "../components/pulumi-command";
import { clusterOf } from "./cluster";
import { targetsProgram } from "./programs";
import { placeOfStack } from "./stack-file";
import { otherResources } from "../chaos/cluster/resources";

interface TargetsOptions {
    json: boolean;
    /** A target must match all of them. */
    expressions: string[];
    stack: string;
    /** The shop's namespace. @default the one in the stack's file */
    namespace?: string;
}

export function targetsOptions(args: string[]): TargetsOptions {
    const { json = false, ...place } = targetsProgram.read<Omit<TargetsOptions, "expressions">>(args);
    targetsProgram.args.forEach((expression) => checkedAttributes(expression));
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

async function main(options: TargetsOptions): Promise<void> {
    const place = placeOfStack(options.stack, options.namespace);
    const cluster = await clusterOf(place, options.stack);
    if (options.namespace !== undefined) await requireNamespace(cluster, options.namespace, options.stack);
    const agents = place.agent && (await findAgents(cluster, place.agent));
    if (!agents)
        console.error(`The shop in namespace ${place.namespace} has no builtin agent: asking the API server instead`);
    const discovered = agents
        ? await askAgents(cluster, agents, process.env.AGENT_KEY)
        : await containersByApiServer(cluster, place.clusterName);
    const spared = await protectedNamespaces(cluster);
    const open = discovered.filter(({ namespace }) => !spared.has(namespace));
    const attackable = onNodes(open, await nodesFor(cluster, options.expressions));
    const found = options.expressions.reduce<Discovered[]>((rest, expression) => select(rest, expression), attackable);
    if (options.json) return console.log(JSON.stringify(found, undefined, 2));
    const [head, ...lines] = targetsTable(found);
    console.log([styleText("bold", head!), ...lines].join("\n"));
}

/** @throws Error if the namespace is not there: a misspelled one must not look like a shop without an agent */
async function requireNamespace(cluster: Cluster, name: string, stack: string): Promise<void> {
    const found = await cluster.get({ resource: otherResources.namespace, name });
    if (found !== undefined) return;
    throw new Error(
        `namespace ${name} does not exist in this cluster. Install the shop there, or name its namespace: ` +
            npmCommand(["targets", "--", "--namespace", "NAME"], stack),
    );
}

if (require.main === module) targetsProgram.run(targetsOptions, main);
