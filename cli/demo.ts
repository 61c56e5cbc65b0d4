import type { OutputMap } from "@pulumi/pulumi/automation";
import { kubectlFor } from "../chaos/values/kubectl";
import { newKeyCommand } from "../components/configuration/agent";
import type { Conclusion } from "../chaos/report/conclusion";
import { commandVariable } from "../experiments/run";
import { noOptions } from "./command";
import { plainError, whyNotUndone } from "../chaos/cli/plain-error";
import { Interruption } from "../chaos/cli/interruption";
import { commandOf } from "./experiment-runs";
import { heading, say, typed } from "./print";
import { demoProgram } from "./programs";
import { Session } from "./session";
import { shellSetup, withShellSetup } from "./shell-setup";
import { podsOf, scale, wholeProducts } from "./shop";

/** Shorter than the defaults, for an audience. */
const experimentSettings = {
    "experiment.name": "hot-deals-blackhole",
    "experiment.duration": "15s",
    "experiment.grace": "10s",
};

async function story(session: Session, interruption: Interruption): Promise<void> {
    heading("1. The shop comes up");
    say(typed("pulumi up"));
    await session.up({ "experiment.enabled": "false" });
    const outputs = await session.outputs();
    const namespace = String(outputs.namespace?.value);
    await scale(session.cluster, namespace, "hot-deals", 1);
    const pods = await podsOf(session.cluster, namespace);
    for (const { name, status } of pods) say(`  ${name.padEnd(40)} ${status}`);
    const areRunning = pods.every(({ status, ready }) => status === "Running" && ready);
    expectThat(areRunning, "all pods are Running");
    await showProducts(session, namespace, outputs);
    const page = (outputs.productsUrl?.value as string | undefined)?.replace(/products$/, "");
    if (page) say(`  To watch who calls whom, open ${page} in a browser`);

    heading("2. hot-deals is cut off from the network");
    say("Hypothesis: the shop keeps listing its products while one container of hot-deals is isolated.");
    interruption.check();
    const first = await enable(session);
    expectThat(
        first.verdict === "FAILED",
        "the verdict is FAILED: one lost backend breaks the whole listing, although fashion and toys still work",
    );
    await undo(session);

    heading("3. The fix: hot-deals gets three replicas");
    say(typed(`${kubectlFor(session.cluster, namespace)} scale deployment hot-deals --replicas 3`));
    await scale(session.cluster, namespace, "hot-deals", 3);
    say("  3 of 3 are ready");

    heading("4. The same experiment again");
    interruption.check();
    const second = await enable(session);
    expectThat(second.verdict === "PASSED", "the verdict is PASSED: the cluster routes around the isolated replica");
    await undo(session);

    heading("5. Everything is undone");
    await session.up();
    const last = await session.outputs();
    await showProducts(session, namespace, last);
    heading("Outputs");
    for (const [name, { value }] of Object.entries(last))
        say(`  ${name.padEnd(12)} ${typeof value === "string" ? value : JSON.stringify(value)}`);
    heading("Try next");
    for (const command of shellSetup()) say(typed(command));
    say(typed(`${kubectlFor(session.cluster, namespace)} scale deployment hot-deals --replicas 1`));
    say(typed("npm run targets -- k8s.deployment=hot-deals"));
    say(typed("npx pulumi stack select local"));
    say(typed(newKeyCommand("local")));
    say(typed("npx pulumi config set experiment.enabled true && npx pulumi preview --diff && npx pulumi up"));
    say(typed("npx pulumi config set experiment.enabled false && npx pulumi up"));
}

/** Runs the experiment, whose progress ends with its verdict. */
async function enable(session: Session): Promise<Conclusion> {
    say(typed("pulumi config set experiment.enabled true && pulumi up"));
    process.env[commandVariable] = commandOf(experimentSettings, "local");
    await session.up({ ...experimentSettings, "experiment.enabled": "true" });
    const { experiment } = await session.outputs();
    return experiment!.value as Conclusion;
}

async function undo(session: Session): Promise<void> {
    say(typed("pulumi config set experiment.enabled false && pulumi up"));
    await session.up({ "experiment.enabled": "false" });
}

async function showProducts(session: Session, namespace: string, outputs: OutputMap): Promise<void> {
    const url = outputs.productsUrl?.value as string | undefined;
    say(
        url ? typed(`curl ${url}`) : "Requesting /products through the API server: the gateway has no external address",
    );
    const answer = await wholeProducts(session.cluster, namespace, 15_000);
    expectThat(
        answer.good,
        `/products lists fashion, toys and hot deals (${answer.problem ?? `status 200 in ${answer.latencyMs} ms`})`,
    );
}

function expectThat(holds: boolean, expected: string): void {
    if (!holds) throw new Error(`The demo did not go as expected. This should be true: ${expected}`);
    say(`  ✔ ${expected}`);
}

async function main(): Promise<void> {
    const session = await Session.open();
    const interruption = new Interruption(session, say);
    try {
        await story(session, interruption);
        interruption.check();
    } catch (error) {
        const problem = plainError(error);
        if (!interruption.happened) console.error(`\n${withShellSetup(problem)}`);
        process.exitCode = interruption.happened ? 130 : 1;
        say("\nUndoing the experiment");
        await interruption
            .throughout(() => undo(session))
            .catch((failure: unknown) => {
                throw new Error(whyNotUndone(failure, interruption.happened ? undefined : problem));
            });
    } finally {
        session.close();
    }
}

demoProgram.run(noOptions(demoProgram), main);
