import type { V1LabelSelector, V1NetworkPolicy } from "@kubernetes/client-node";
import { givenBack, isNewOwners, isOurs, type Owner, ownersOf } from "../cluster/field-owners";
import { annotations, labels, noteIn } from "../cluster/labels";
import type { Restorable } from "../cluster/resources";
import { also, isSameSelector } from "./selector";

/** The line of a policy's `podSelector` by which it lets go of pods under attack. It changes nothing for others. */
export const exemption = { key: labels.attacked, operator: "DoesNotExist" };

/** What a policy was before a run: all that restoring needs. */
interface ExemptionNote {
    run: string;
    selector: V1LabelSelector;
    /** Who had set the selector, by server-side apply or otherwise. */
    owners: Owner[];
}

/**
 * The next merge patch that adds the line to a policy. Undefined if there is nothing to do.
 *
 * It takes two: the first adds it, and notes what the policy was. The second leaves the selector to who had set it
 * before. So an apply of theirs in the meantime has no conflict.
 */
export function nextExempting({ metadata, spec }: V1NetworkPolicy, run: string): object | undefined {
    const { resourceVersion } = metadata!;
    if (isExempting({ metadata })) {
        const { owners } = noteOf({ metadata }) ?? {};
        if (owners === undefined || !isOurs(metadata!, "podSelector")) return undefined;
        return { metadata: { resourceVersion, managedFields: givenBack(metadata!, "podSelector", owners) } };
    }
    const selector = spec!.podSelector ?? {};
    const note: ExemptionNote = { run, selector, owners: ownersOf(metadata!, "podSelector") };
    return {
        metadata: { resourceVersion, annotations: { [annotations.exempting]: JSON.stringify(note) } },
        spec: { podSelector: also(selector, exemption) },
    };
}

/**
 * The next merge patch that restores a policy. Undefined if there is nothing to restore.
 *
 * It takes two. The first restores the selector: with that, the API server takes the field for this package's. The
 * second gives it back to who had set it before, and takes the note away: else their next server-side apply would meet
 * a conflict. A selector that somebody else has set since stays as it is.
 */
function nextRestoring({ metadata, spec }: V1NetworkPolicy): object | undefined {
    const { resourceVersion } = metadata!;
    if (!isExempting({ metadata })) return undefined;
    const note = noteOf({ metadata });
    // Somebody has copied or edited it: nothing is known of an earlier selector.
    if (note === undefined) return { metadata: { resourceVersion, annotations: { [annotations.exempting]: null } } };
    const { selector, owners } = note;
    const isTheirs = isNewOwners(metadata!, "podSelector", owners);
    if (!isTheirs && isSameSelector(spec!.podSelector ?? {}, also(selector, exemption))) {
        const { matchExpressions = null } = selector;
        return { metadata: { resourceVersion }, spec: { podSelector: { matchExpressions } } };
    }
    return {
        metadata: {
            resourceVersion,
            annotations: { [annotations.exempting]: null },
            managedFields: givenBack(metadata!, "podSelector", owners),
        },
    };
}

export const exemptedPolicy: Restorable = {
    isChanged: isExempting,
    runOf: (policy: V1NetworkPolicy) => noteOf(policy)?.run,
    next: nextRestoring,
};

function isExempting({ metadata }: V1NetworkPolicy): boolean {
    return metadata?.annotations?.[annotations.exempting] !== undefined;
}

function noteOf(policy: V1NetworkPolicy): ExemptionNote | undefined {
    const note = noteIn<ExemptionNote>(policy, annotations.exempting);
    return note.selector && note.owners ? (note as ExemptionNote) : undefined;
}
