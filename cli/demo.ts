import type { OutputMap } from "@pulumi/pulumi/automation";
import { newKeyCommand } from "../components/configuration/agent";
import type { Conclusion } from "../experiments/journal";
import { describeMilliseconds } from "../shared/duration";
import { Interruption } from "./interruption";
import { heading, plainError, runProgram, say, Session, typed } from "./session";
import { podsOf, scale, wholeProducts } from "./shop";

const help = `npm run demo: from nothing to two verdicts.

Puts the shop into a local cluster (your own, or the sandbox), cuts hot-deals off the network as a stack update, shows
that /products fails although fashion and toys could be served, scales hot-deals to 3 replicas, and runs the same
experiment again. Ends with the experiment undone and /products whole. Exit code 0 only if all of it came out so.`;

/** Shorter than the defaults: a demonstration is watched. */
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
    expectThat(
        pods.every(({ status, ready }) => status === "Running" && ready),
        "all pods are Running",
    );
    await showProducts(session, namespace, outputs);

    heading("2. hot-deals is cut off the network");
    say("The hypothesis: the shop goes on listing its products while one container of hot-deals is isolated.");
    interruption.check();
    const first = await enable(session);
    expectThat(
        first.verdict === "FAILED",
        "the verdict is FAILED: one backend takes the whole listing with it, although fashion and toys could be served",
    );
    await undo(session);

    heading("3. The remedy: hot-deals gets three replicas");
    say(typed(`kubectl --namespace ${namespace} scale deployment hot-deals --replicas 3`));
    await scale(session.cluster, namespace, "hot-deals", 3);
    say("  3 of 3 are ready");

    heading("4. The same experiment again");
    interruption.check();
    const second = await enable(session);
    expectThat(second.verdict === "PASSED", "the verdict is PASSED: the cluster routes around the isolated replica");
    await undo(session);

    heading("5. All is undone");
    await session.up();
    const last = await session.outputs();
    await showProducts(session, namespace, last);
    heading("Outputs");
    for (const [name, { value }] of Object.entries(last))
        say(`  ${name.padEnd(12)} ${typeof value === "string" ? value : JSON.stringify(value)}`);
    heading("To try next");
    for (const command of session.shellSetup) say(typed(command));
    say(typed(`kubectl --namespace ${namespace} scale deployment hot-deals --replicas 1`));
    say(typed("npm run targets -- k8s.deployment=hot-deals"));
    say(typed("npx pulumi stack select local"));
    say(typed(newKeyCommand.replace("pulumi", "npx pulumi")));
    say(typed("npx pulumi config set experiment.enabled true && npx pulumi preview --diff && npx pulumi up"));
    say(typed("npx pulumi config set experiment.enabled false && npx pulumi up"));
}

/** Enables the experiment, and tells what came out. */
async function enable(session: Session): Promise<Conclusion> {
    say(typed("pulumi config set experiment.enabled true && pulumi up"));
    await session.up({ ...experimentSettings, "experiment.enabled": "true" });
    const { experiment } = await session.outputs();
    const conclusion = experiment!.value as Conclusion;
    say(`  Targets   ${conclusion.targets.join(", ")}`);
    say(`  Requests  ${conclusion.requests}, ${conclusion.successRate} good once the grace was over`);
    if (conclusion.timeToFirstFailureMs !== null)
        say(`  First failure ${describeMilliseconds(conclusion.timeToFirstFailureMs)} after the attack took hold`);
    if (conclusion.timeToStabilityMs !== null)
        say(`  Stable    ${describeMilliseconds(conclusion.timeToStabilityMs)} after the attack took hold`);
    say(`  Verdict   ${conclusion.verdict}: ${conclusion.reason}`);
    return conclusion;
}

async function undo(session: Session): Promise<void> {
    say(typed("pulumi config set experiment.enabled false && pulumi up"));
    await session.up({ "experiment.enabled": "false" });
}

async function showProducts(session: Session, namespace: string, outputs: OutputMap): Promise<void> {
    const url = outputs.productsUrl?.value as string | undefined;
    say(
        url
            ? typed(`curl ${url}`)
            : "Asking /products through the API server, since the gateway has no external address",
    );
    const answer = await wholeProducts(session.cluster, namespace, 15_000);
    expectThat(
        answer.good,
        `/products lists fashion, toys and hot deals (${answer.problem ?? `status 200 in ${answer.latencyMs} ms`})`,
    );
}

/** A turn of the story that has to come out as told. */
function expectThat(holds: boolean, turn: string): void {
    if (!holds) throw new Error(`The story came out otherwise; expected: ${turn}`);
    say(`  ✔ ${turn}`);
}

async function main(): Promise<void> {
    const session = await Session.open();
    const interruption = new Interruption(session, say);
    try {
        await story(session, interruption);
        interruption.check();
    } catch (error) {
        if (!interruption.happened) console.error(`\n${plainError(error)}`);
        process.exitCode = interruption.happened ? 130 : 1;
        say("\nUndoing the experiment, so that nobody stays cut off");
        await interruption.throughout(() => undo(session));
    } finally {
        session.close();
    }
}

runProgram(help, main);
