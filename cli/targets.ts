import { styleText } from "node:util";
import { askAgents, findAgents } from "../chaos/targets/agents";
import { askApiServer, protectedNamespaces } from "../chaos/targets/discover";
import { type Discovered, ownerOf, select } from "../chaos/targets/containers";
import { clusterOf } from "./cluster";
import { runWith } from "./program";
import { placeOfStack } from "./stack-file";
import { type TargetsOptions, targetsOptions } from "./targets-options";

const help = `Usage: npm run targets [-- [ATTRIBUTES...] [OPTIONS]]

Lists the containers that an experiment can attack. Asks the stack's agents, or the API server if it has none.

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
    if (!agents)
        console.error(`The shop in namespace ${place.namespace} has no builtin agent: asking the API server instead`);
    const discovered = agents
        ? await askAgents(cluster, agents, process.env.AGENT_KEY)
        : await askApiServer(cluster, place.clusterName);
    const spared = await protectedNamespaces(cluster);
    const attackable = discovered.filter(({ namespace }) => !spared.has(namespace));
    print(
        options.expressions.reduce<Discovered[]>((rest, expression) => select(rest, expression), attackable),
        options.json,
    );
}

function print(found: readonly Discovered[], json: boolean): void {
    if (json) return console.log(JSON.stringify(found, undefined, 2));
    const rows = found
        .map(({ namespace, pod, container, attributes }) => [
            namespace,
            ownerOf(attributes) ?? "",
            pod,
            container,
            String(attributes["host.hostname"]),
        ])
        .sort((a, b) => a.join("\0").localeCompare(b.join("\0")));
    const table = [["NAMESPACE", "OWNER", "POD", "CONTAINER", "NODE"], ...rows];
    const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
    table.forEach((row, index) => {
        const line = row
            .map((cell, column) => cell.padEnd(widths[column]!))
            .join("  ")
            .trimEnd();
        console.log(index === 0 ? styleText("bold", line) : line);
    });
    console.log(`${found.length} container${found.length === 1 ? "" : "s"}`);
}

runWith("targets", help, targetsOptions(process.argv.slice(2)), main);
