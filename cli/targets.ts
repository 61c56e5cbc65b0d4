import { styleText } from "node:util";
import { askAgents, findAgents } from "../chaos/targets/agents";
import { askApiServer, protectedNamespaces } from "../chaos/targets/discover";
import { type Discovered, select } from "../chaos/targets/containers";
import { type Cluster, ignoreNotFound } from "../chaos/cluster/client";
import { clusterOf } from "./cluster";
import { runWith } from "./program";
import { placeOfStack } from "./stack-file";
import { type TargetsOptions, targetsOptions } from "./targets-options";
import { targetsTable } from "./targets-table";

const help = `Usage: npm run targets [-- [ATTRIBUTES...] [OPTIONS]]

Lists the containers that an experiment can attack. Those of pods that are not ready only if it sets includeNotReady.
Asks the stack's agents, or the API server if it has none.

  ATTRIBUTES          Attributes as in experiments. A container must match all of them. Examples:
                      npm run targets -- k8s.deployment=hot-deals,k8s.namespace=demo
                      npm run targets -- 'k8s.container.name=hot-*' 'k8s.namespace!=kube-system'
  --json              Print all attributes as JSON. To silence npm: npm run -s targets -- --json
  --stack NAME        The stack whose agents to ask. Default: local
  --namespace NAME    The shop's namespace. Default: the one in the stack's file
  --help              Show this text

The agents require a key. The program reads it from their Secret if it may, otherwise from the environment variable
AGENT_KEY.

Exit codes: 0 done, even if nothing matches; 1 no answer; 2 wrong argument.`;

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

runWith("targets", help, targetsOptions(process.argv.slice(2)), main);
