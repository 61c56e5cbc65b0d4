import { kubectlFor } from "../chaos/values/kubectl";
import { noOptions } from "./command";
import { say, typed } from "./print";
import { startProgram } from "./programs";
import { Session } from "./session";
import { shellSetup } from "./shell-setup";
import { reportSession } from "./shop-report";

const stack = "local";

async function main(): Promise<void> {
    const session = await Session.open(stack);
    try {
        await session.up();
        const outputs = await session.outputs();
        const isUp = await reportSession(session, stack, outputs);
        const kubectl = kubectlFor(session.cluster, outputs.namespace?.value as string);
        if (isUp) say(`Look at it: ${typed(`${kubectl} get pods,services`)}`);
        else process.exitCode = 1;
        for (const command of shellSetup()) say(`First, in your shell: ${typed(command)}`);
    } finally {
        session.close();
    }
}

startProgram.run(noOptions(startProgram), main);
