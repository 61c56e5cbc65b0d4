import { runProgram, say, Session, typed } from "./session";
import { reportSession } from "./session-report";

const stack = "local";

const help = `Usage: npm start

Installs the shop in a cluster, requests /products, and prints its address.

Uses the cluster that kube.context of the stack local names. If it names none, uses your cluster if the current kubectl
context is plainly local (kind, minikube, k3d, Docker Desktop, Rancher Desktop) and answers. Otherwise builds and starts
the sandbox. You can run it again at any time: a running shop stays up.

  --help    Shows this text

Exit codes: 0 the shop is up, 1 /products fails or an error occurred, 2 wrong argument.`;

async function main(): Promise<void> {
    const session = await Session.open(stack);
    try {
        await session.up();
        const outputs = await session.outputs();
        const isUp = await reportSession(session, stack, outputs);
        if (isUp) say(`Look at it: ${typed(`kubectl --namespace ${outputs.namespace?.value} get pods,services`)}`);
        else process.exitCode = 1;
        for (const command of session.shellSetup) say(`First, in your shell: ${typed(command)}`);
    } finally {
        session.close();
    }
}

runProgram("start", help, main);
