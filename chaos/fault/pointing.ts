/** A Service that points to a fault's proxy for a while: pure patches, for the update, the sweep and the Job. */
import type { V1Service } from "@kubernetes/client-node";
import { givenBack, type Owner, ownersOf } from "../cluster/field-owners";
import { annotations, labels } from "../cluster/labels";

/** What a Service was before a run: all that restoring needs. */
interface PointingNote {
    /** Name of the run. */
    run: string;
    selector: Record<string, string>;
    /** Who had set the selector, by server-side apply or otherwise. */
    owners: Owner[];
}

/** The labels by which a Service, and a policy, select a proxy. */
export const proxyLabels = (proxy: string) => ({ [labels.proxy]: proxy });

/**
 * The merge patch that points a Service to a proxy, and notes what it was. Undefined if it points there.
 *
 * @param proxy name of the proxy
 * @throws Error if its selector is not as it was when the run chose its targets, or another run's
 */
export function pointing(
    { metadata, spec }: V1Service,
    { proxy, run, selector }: { proxy: string; run: string; selector: Record<string, string> },
): object | undefined {
    const current = spec?.selector ?? {};
    if (isSame(current, proxyLabels(proxy))) return undefined;
    if (!isSame(current, selector)) {
        throw new Error(`somebody has changed the selector of Service ${metadata!.name} since the targets were chosen`);
    }
    const note: PointingNote = { run, selector, owners: ownersOf(metadata!, "selector") };
    return {
        metadata: {
            resourceVersion: metadata!.resourceVersion,
            annotations: { [annotations.pointing]: JSON.stringify(note) },
        },
        spec: { selector: replaced(current, proxyLabels(proxy)) },
    };
}

/**
 * The next merge patch that restores a Service. Undefined if there is nothing to restore.
 *
 * It takes two, as with a policy's selector: the first restores the selector, the second gives the field back to who
 * had set it before. A selector that somebody else has set since stays as it is.
 *
 * @param kept what it selected before, if somebody has edited its note: the proxy's own Service keeps that, too
 */
export function nextRestoring(service: V1Service, kept?: Record<string, string>): object | undefined {
    if (!isPointing(service)) return undefined;
    const { metadata, spec } = service;
    const { resourceVersion } = metadata!;
    const { selector = kept, owners = [] } = noteOf(service) ?? {};
    const current = spec?.selector ?? {};
    if (selector !== undefined && labels.proxy in current)
        return { metadata: { resourceVersion }, spec: { selector: replaced(current, selector) } };
    if (metadata!.annotations?.[annotations.pointing] === undefined) return undefined;
    const isRestored = selector !== undefined && isSame(current, selector);
    return {
        metadata: {
            resourceVersion,
            annotations: { [annotations.pointing]: null },
            managedFields: givenBack(metadata!, "selector", isRestored ? owners : []),
        },
    };
}

/** Whether a run has pointed a Service to a proxy, and not restored it. */
export const isPointing = ({ metadata, spec }: V1Service): boolean =>
    metadata?.annotations?.[annotations.pointing] !== undefined || proxyOf({ spec }) !== undefined;

/** The name of the proxy that a Service points to. */
export const proxyOf = ({ spec }: V1Service): string | undefined => spec?.selector?.[labels.proxy];

/** Which run has pointed a Service to a proxy, and what it selected before. Undefined if that cannot be read. */
export function noteOf({ metadata }: V1Service): PointingNote | undefined {
    try {
        const note = JSON.parse(metadata!.annotations![annotations.pointing]!) as Partial<PointingNote> | null;
        return note?.run && note.selector && note.owners ? (note as PointingNote) : undefined;
    } catch {
        return undefined;
    }
}

/** The merge patch of a map that makes it another. */
const replaced = (before: Record<string, string>, after: Record<string, string>) => ({
    ...Object.fromEntries(Object.keys(before).map((key) => [key, null])),
    ...after,
});

const isSame = (one: Record<string, string>, another: Record<string, string>) =>
    Object.keys(one).length === Object.keys(another).length &&
    Object.entries(one).every(([key, value]) => another[key] === value);
