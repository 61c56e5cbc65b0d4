import { styleText } from "node:util";
import { askAgents, findAgents } from "../chaos/targets/agents";
import { askApiServer, protectedNamespaces } from "../chaos/targets/discover";
import { type Discovered, select } from "../chaos/targets/containers";
import { type Cluster, ignoreNotFound } from "../chaos/cluster/client";
import { clusterOf } from "./cluster";
import { targetsProgram } from "./programs";
import { placeOfStack } from "./stack-file";
import { type TargetsOptions, targetsOptions, targetsTable } from "./targets-options";

async function main(options: TargetsOptions): Promise<void> {
    const place = placeOfStack(options.stack, options.namespace);
    const cluster = await clusterOf(place);
    const agents = place.agent && (await findAgents(cluster, place.agent));
    if (!agents && options.namespace !== undefined) await requireNamespace(cluster, options.namespace);
    if (!agents)
        console.error(`The shop in namespace ${place.namespace} has no builtin agent: asking the API server instead`);
    const discovered = agents
        ? await askAgents(cluster, agents, process.env.AGENT_KEY)
        : await askApiServer(cluster, place.clusterName);
    const spared = await protectedNamespaces(cluster);
    const attackable = discovered.filter(({ namespace }) => !spared.has(namespace));
    const found = options.expressions.reduce<Discovered[]>((rest, expression) => select(rest, expression), attackable);
    if (options.json) return console.log(JSON.stringify(found, undefined, 2));
    const [head, ...lines] = targetsTable(found);
    console.log([styleText("bold", head!), ...lines].join("\n"));
}

/** @throws Error if the namespace is not there: a misspelled one must not look like a shop without an agent */
async function requireNamespace({ core }: Cluster, name: string): Promise<void> {
    const found = await ignoreNotFound(core.readNamespace({ name }));
    if (found !== undefined) return;
    throw new Error(
        `namespace ${name} does not exist in this cluster. Install the shop there, or name its namespace: ` +
            "npm run targets -- --namespace NAME",
    );
}

targetsProgram.run(targetsOptions, main);
