import { styleText } from "node:util";
import { allowedContext } from "../components/cluster/guard";
import { askAgents, findAgents } from "../experiments/targets/agents";
import { askApiServer, protectedNamespaces } from "../experiments/targets/discover";
import { type Discovered, select } from "../shared/containers";
import { loadKubeconfig } from "../shared/kubeconfig";
import { connect } from "../shared/kubernetes";
import { runningCluster } from "./cluster";
import { placeOfStack } from "./stackFile";
import { type TargetsOptions, targetsOptions } from "./targetsOptions";

const help = `npm run targets [-- [OPTION...] [ATTRIBUTES...]]: what the agents discovered.

Lists the containers that an experiment could attack: from the stack's agents, or from the API server where it has none.
ATTRIBUTES are those of experiments; where there are several, all must hold:

  npm run targets -- k8s.deployment=hot-deals,k8s.namespace=demo
  npm run targets -- 'k8s.container.name=hot-*' 'k8s.namespace!=kube-system'

  --json             all that is known of them, as JSON. Have npm say nothing of its own: npm run -s targets -- --json
  --stack NAME       whose agents are asked; default: local
  --namespace NAME   the shop's, where it is another than the stack's file says

Whoever may read the agents' Secret needs no key; else it is taken from the environment variable AGENT_KEY.

Exit code: 0, also where nothing matches; 1 there was no answer; 2 a wrong argument.`;

async function main(options: TargetsOptions): Promise<void> {
    const place = placeOfStack(options.stack);
    const shop = options.namespace ?? place.namespace;
    const context =
        place.kubeContext === undefined ? await runningCluster() : allowedContext(loadKubeconfig(), place.kubeContext);
    const cluster = connect(context.name);
    const agents = await findAgents(cluster, shop);
    if (!agents)
        console.error(`The shop in namespace ${shop} has no agent of this project: the API server is asked instead`);
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
    const owners = ["k8s.deployment", "k8s.statefulset", "k8s.daemonset", "k8s.job"];
    const rows = found
        .map(({ namespace, pod, container, attributes }) => {
            const owner = owners.find((key) => key in attributes);
            return [
                namespace,
                owner ? `${owner}=${attributes[owner]}` : "",
                pod,
                container,
                String(attributes["host.hostname"]),
            ];
        })
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

const options = targetsOptions(process.argv.slice(2));
if ("help" in options) console.log(help);
else if ("mistake" in options) {
    console.error(`${options.mistake}\nSee: npm run targets -- --help`);
    process.exitCode = 2;
} else {
    main(options).catch((error: Error) => {
        console.error(error.message);
        process.exitCode = 1;
    });
}
