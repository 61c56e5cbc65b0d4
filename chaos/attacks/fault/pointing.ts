/** A Service that points to a fault's proxy for a while: pure patches, for the update, the sweep and the Job. */
import type { V1Service } from "@kubernetes/client-node";
import { givenBack, isOurs, type Owner, ownersOf } from "../../cluster/field-owners";
import { annotations, labels } from "../../cluster/labels";
import type { Restorable } from "../../cluster/resources";
import { ReasonError } from "../../reasons";

/** What a Service was before a run: all that restoring needs. */
interface PointingNote {
    /** Name of the run. */
    run: string;
    selector: Record<string, string>;
    /** Who had set the selector, by server-side apply or otherwise. */
    owners: Owner[];
}

/** What reports call a pod behind a port of a Service, as the witness meets it through the Service. */
export const behind = (service: string, port: number, pod: string) => `${pod} through ${service}:${port}`;

/** The labels by which a Service, and a policy, select a proxy. */
export const proxyLabels = (proxy: string) => ({ [labels.proxy]: proxy });

/**
 * The next merge patch that points a Service to a proxy. Undefined if there is nothing to do.
 *
 * It takes two: the first points it there, and notes what it was. The second leaves the selector to who had set it
 * before. So an apply of theirs in the meantime has no conflict: it ends the fault.
 *
 * @param proxy name of the proxy
 * @throws ReasonError if its selector is not as it was when the run chose its targets, or another run's
 */
export function nextPointing(
    { metadata, spec }: V1Service,
    { proxy, run, selector }: { proxy: string; run: string; selector: Record<string, string> },
): object | undefined {
    const current = spec?.selector ?? {};
    const { resourceVersion } = metadata!;
    if (isSame(current, proxyLabels(proxy))) {
        const { owners } = noteOf({ metadata }) ?? {};
        if (owners === undefined || !isOurs(metadata!, "selector")) return undefined;
        return { metadata: { resourceVersion, managedFields: givenBack(metadata!, "selector", owners) } };
    }
    if (!isSame(current, selector)) {
        const message = `somebody has changed the selector of Service ${metadata!.name} since the targets were chosen`;
        throw new ReasonError("service-changed", message, "Start another run");
    }
    const note: PointingNote = { run, selector, owners: ownersOf(metadata!, "selector") };
    return {
        metadata: { resourceVersion, annotations: { [annotations.pointing]: JSON.stringify(note) } },
        spec: { selector: replaced(current, proxyLabels(proxy)) },
    };
}

/**
 * The next merge patch that restores a Service. Undefined if there is nothing to restore.
 *
 * It takes two, as with a policy's selector: the first restores the selector, the second gives the field back to who
 * had set it before. What somebody else has set since stays as it is: a merge, as of a client-side `kubectl apply`,
 * adds its labels to the proxy's, and then only the proxy's goes.
 *
 * @param kept what it selected before, if somebody has edited its note: the proxy's own Service keeps that, too
 */
function nextRestoring(service: V1Service, kept?: Record<string, string>): object | undefined {
    if (!isPointing(service)) return undefined;
    const { metadata, spec } = service;
    const { resourceVersion } = metadata!;
    const { selector = kept, owners = [] } = noteOf(service) ?? {};
    const current = spec?.selector ?? {};
    if (selectsNobody(service)) return { metadata: { resourceVersion }, spec: { selector: { [labels.proxy]: null } } };
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

/** A Service that points to a proxy. If its note is lost, the proxy's own Service keeps what it had selected. */
export const pointedService: Restorable = {
    isChanged: isPointing,
    runOf: (service: V1Service) => noteOf(service)?.run,
    keeperOf: (service: V1Service) => (noteOf(service) ? undefined : proxyOf(service)),
    next: (service: V1Service, kept?: V1Service) => nextRestoring(service, kept?.spec?.selector),
};

/** Whether a run has pointed a Service to a proxy, and not restored it. */
export function isPointing({ metadata, spec }: V1Service): boolean {
    return metadata?.annotations?.[annotations.pointing] !== undefined || proxyOf({ spec }) !== undefined;
}

/** Whether somebody has merged other labels into the selector of a proxy, which has none of them. */
export const selectsNobody = ({ spec }: V1Service): boolean =>
    proxyOf({ spec }) !== undefined && Object.keys(spec!.selector!).length > 1;

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
