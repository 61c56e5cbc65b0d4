import { runProgram, say, Session, typed } from "./session";

const help = `npm start: puts the shop into a cluster and prints its address.

Your own cluster is used where the current kubectl context is plainly local (kind, minikube, k3d, Docker Desktop,
Rancher Desktop) and answers; else the sandbox, which is built and brought up where it is not. Everything can be done
again at any time; what is up stays up.`;

async function main(): Promise<void> {
    const session = await Session.open();
    try {
        await session.up();
        const { productsUrl, gateway, namespace } = await session.outputs();
        say();
        say(productsUrl?.value ? `The shop is up: ${productsUrl.value}` : `The shop is up; ${gateway?.value}`);
        say(`Look at it: ${typed(`kubectl --namespace ${namespace?.value} get pods,services`)}`);
        for (const command of session.shellSetup) say(`In a shell of yours, first: ${typed(command)}`);
    } finally {
        session.close();
    }
}

runProgram(help, main);
