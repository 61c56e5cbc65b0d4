import { setTimeout as sleep } from "node:timers/promises";
import { labels, selectorOf } from "../../../cluster/labels";
import { resources } from "../../../cluster/resources";
import type { V1ContainerStatus } from "../../../values/kubernetes-types";
import { groupedBy } from "../../../values/grouped";
import type { BeginInJob, JobContext, JobPart } from "../job-part";
import { triedIn } from "../tried";
import { nameOf, type Victim } from "./victim";

/** Between two looks at the targets, in milliseconds. Looks at many targets are rarer: they take half of the time. */
const lookMs = 500;

/**
 * Watches whether the containers run that the update has stopped. It restores them with the end of the run, as
 * everything that attacks have changed: see `ending/end.ts`.
 */
export const failInJob: BeginInJob<undefined> = (_, context) => {
    const seen = new Seen();
    void lookAgainAndAgain(context, seen);
    return {
        get last() {
            return { open: seen.running, closed: seen.stopped };
        },
    } satisfies JobPart;
};

async function lookAgainAndAgain(context: JobContext, seen: Seen): Promise<void> {
    const { ending, log } = context;
    let victims: readonly Victim[] = [];
    for (let tookMs = 0; !ending.aborted; await sleep(Math.max(lookMs, tookMs))) {
        const begun = performance.now();
        if (victims.length === 0) victims = (await triedIn<"fail">(context).catch(log)) ?? [];
        if (victims.length > 0)
            await look(context, victims, seen).catch((error: unknown) => {
                log(error);
                // Nothing is known until the API server answers.
                seen.forget();
            });
        tookMs = performance.now() - begun;
    }
}

/** Looks at each pod as it comes: all of them at once may be too large for the Job. */
async function look({ api, namespace, label }: JobContext, victims: readonly Victim[], seen: Seen): Promise<void> {
    const ofPods = groupedBy(victims, ({ uid }) => uid);
    const labelSelector = selectorOf({ [labels.target]: label });
    for await (const { metadata, status } of api.list(resources.pod, { namespace, labelSelector })) {
        const uid = metadata!.uid!;
        for (const victim of ofPods.get(uid) ?? [])
            seen.note(
                victim,
                status?.containerStatuses?.find(({ name }) => name === victim.container),
            );
        ofPods.delete(uid);
    }
    for (const victim of [...ofPods.values()].flat()) seen.note(victim, undefined);
}

/** What the last look has shown. A container of which nothing is known is in neither list. */
class Seen {
    private readonly isRunning = new Map<string, boolean>();

    note(victim: Victim, status: V1ContainerStatus | undefined): void {
        const name = nameOf(victim);
        if (status === undefined) this.isRunning.delete(name);
        // A container that was started between two looks has another number of restarts.
        else this.isRunning.set(name, status.state?.running !== undefined || status.restartCount !== victim.restarts);
    }

    forget(): void {
        this.isRunning.clear();
    }

    get running(): string[] {
        return this.those(true);
    }

    get stopped(): string[] {
        return this.those(false);
    }

    private those(wanted: boolean): string[] {
        return [...this.isRunning].flatMap(([name, is]) => (is === wanted ? name : []));
    }
}
