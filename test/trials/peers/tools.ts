import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Application } from "../../../bench/peers/application";
import { chaosToolkitExperiment, chaosToolkitRun, countsPods } from "../../../bench/peers/chaos-toolkit";
import type { Command, Ended } from "../../../bench/peers/run-to-end";
import { Ours } from "../../../bench/peers/ours";
import type { Session } from "../../../bench/session";
import { labels, selectorOf } from "../../../chaos/cluster/labels";
import { type Answer, answerOfChaosToolkit, answerOfOurs, type Journal } from "./answer";
import { ApiProxy } from "./api-proxy";
import { type Question, windowSeconds } from "./questions";

/** A tool that is asked. */
export interface Tool {
    /** As the page names it. */
    name: string;
    /** The label of the pods that it attacks. */
    targets: string;
    /** Whether it may say something else than another one. @default always */
    mayDiffer?: (question: Question) => boolean;
    /** @returns the command that asks the question */
    prepare(question: Question): Promise<Command>;
    answer(ended: Ended): Promise<Answer>;
    /** What the next question needs after this one. */
    undo(question: Question): Promise<void>;
}

/** Of the attack whose command is killed. */
const killedDeadline = "1m";

export async function ours(session: Session, { namespace }: Application): Promise<Tool> {
    const stack = await Ours.open(session, { namespace, duration: `${windowSeconds}s` });
    return {
        name: "this project",
        targets: labels.target,
        async prepare({ asks = "front", selectsNobody, meanwhile }) {
            const target = `k8s.deployment=${selectsNobody ? "api-of-before" : "api"}`;
            await stack.enable({ asks, target, deadline: meanwhile === "kill" ? killedDeadline : "10m" });
            return stack.update("--skip-preview");
        },
        answer: async (ended) => answerOfOurs(await stack.conclusion(), ended),
        async undo({ meanwhile }) {
            if (meanwhile === "kill") await stack.release();
            await stack.disable();
        },
    };
}

const attacked = { attacked: "true" };

/** @param chaos the path of the command @param counts whether a probe of the hypothesis counts the attacked pods */
export function chaosToolkitTool(
    chaos: string,
    { context, scratch }: Session,
    application: Application,
    counts: boolean,
): Tool {
    const cwd = join(scratch, counts ? "chaos-toolkit-counts" : "chaos-toolkit");
    const journal = join(cwd, "journal.json");
    let proxy: ApiProxy | undefined;
    return {
        name: counts ? "Chaos Toolkit, counting the attacked pods" : "Chaos Toolkit",
        targets: selectorOf(attacked),
        ...(counts && { mayDiffer: ({ lacksTarget = false }) => lacksTarget }),
        async prepare({ asks = "front", selectsNobody }) {
            rmSync(journal, { force: true });
            const { namespace } = application;
            const [pod] = await application.podsOf("api");
            if (!selectsNobody) await application.kubectl("label", "pod", pod!.metadata!.name!, selectorOf(attacked));
            if (asks === "api") proxy = await ApiProxy.start(context);
            const url = `${proxy?.urlOf(asks, namespace) ?? (await application.address())}/products`;
            const moreProbes = counts ? [countsPods(namespace, selectorOf(attacked), 1)] : [];
            const question = { namespace, url, seconds: windowSeconds, selector: attacked, moreProbes };
            return chaosToolkitRun(chaos, cwd, chaosToolkitExperiment(question));
        },
        answer: (ended) => {
            const told = existsSync(journal) ? (JSON.parse(readFileSync(journal, "utf8")) as Journal) : undefined;
            return Promise.resolve(answerOfChaosToolkit(told, ended));
        },
        undo: () => {
            proxy?.stop();
            proxy = undefined;
            return Promise.resolve();
        },
    };
}
