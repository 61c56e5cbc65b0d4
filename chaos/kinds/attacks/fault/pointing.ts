/** A Service that points to a fault's proxy for a while: pure patches, for the update, the sweep and the Job. */
import type { V1Service } from "../../../values/kubernetes-types";
import { isDeepStrictEqual } from "node:util";
import { BorrowedSelector } from "../../../cluster/field-owners";
import { annotations, labels } from "../../../cluster/labels";
import type { Restorable } from "../../../cluster/resources";
import { ReasonError } from "../../../values/reasons";

/** The selector of a Service, and its note: which run has changed it, and what it selected before. */
export const serviceSelector = new BorrowedSelector<Record<string, string>>("selector", annotations.pointing);

/**
 * What reports call a pod behind a port of a Service, as the witness meets it through the Service.
 *
 * @param differs how its request differs from what a fault matches: see `Sample`. @default not at all
 */
export const behind = (service: string, port: number, pod: string, differs?: string) =>
    `${pod} through ${service}:${port}${differs === undefined ? "" : `, with a request ${differs}`}`;

/**
 * Name of the Service that selects the witness. It may have 63 characters, as the proxy has at most: by its last ones,
 * faults of a run differ.
 */
export const witnessNameOf = (proxy: string) => `${proxy.length > 61 ? proxy.slice(0, 54) + proxy.slice(-7) : proxy}-w`;

export const proxyLabels = (proxy: string) => ({ [labels.proxy]: proxy });

/**
 * The next merge patch that points a Service to a proxy. Undefined if there is nothing to do.
 *
 * @param proxy name of the proxy
 * @throws ReasonError if its selector is not as it was when the run chose its targets, or another run's
 */
export function nextPointing(
    service: V1Service,
    { proxy, run, selector }: { proxy: string; run: string; selector: Record<string, string> },
): object | undefined {
    const current = service.spec?.selector ?? {};
    if (isDeepStrictEqual(current, proxyLabels(proxy))) return serviceSelector.givingBack(service);
    if (!isDeepStrictEqual(current, selector)) {
        const { name } = service.metadata!;
        const message = `somebody has changed the selector of Service ${name} since the targets were chosen`;
        throw new ReasonError("service-changed", message, "Start another run");
    }
    return serviceSelector.setting(service, run, selector, replaced(current, proxyLabels(proxy)));
}

/**
 * The next merge patch that restores a Service. Undefined if there is nothing to restore.
 *
 * @param kept what it selected before, if somebody has edited its note: the proxy's own Service keeps that, too
 */
function nextRestoring(service: V1Service, kept?: Record<string, string>): object | undefined {
    const before = beforePointing(service) ?? kept;
    const { [labels.proxy]: proxy, ...merged } = service.spec?.selector ?? {};
    const wanted = selectsNobody(service) ? wantedByOthers(service, merged, before) : before;
    const isKnown = proxy !== undefined && wanted !== undefined;
    return serviceSelector.restoring(service, isKnown ? replaced(service.spec!.selector!, wanted) : undefined);
}

/** What a Service selected before, by its note. Undefined if somebody has edited that. */
function beforePointing(service: V1Service): Record<string, string> | undefined {
    const noted = serviceSelector.noteOf(service)?.selector;
    return noted?.[labels.proxy] === undefined ? noted : undefined;
}

/**
 * What a Service shall select after somebody has merged labels into the proxy's. A merge names only the labels that
 * change, and the rest is as it was. A client-side `kubectl apply` also takes away the labels that its manifest no
 * longer has, and could not, since the Service had none of them.
 */
function wantedByOthers(service: V1Service, merged: Record<string, string>, before: Record<string, string> = {}) {
    const applied = serviceSelector.appliedIn(service);
    const appliedBefore = serviceSelector.noteOf(service)?.applied ?? {};
    const isDropped = (key: string) => applied !== undefined && key in appliedBefore && !(key in applied);
    const kept = Object.entries(before).filter(([key]) => !isDropped(key));
    return { ...Object.fromEntries(kept), ...merged };
}

/** A Service that points to a proxy. If its note is lost, the proxy's own Service keeps what it had selected. */
export const pointedService: Restorable = {
    isChanged: isPointing,
    runOf: (service: V1Service) => serviceSelector.noteOf(service)?.run,
    keeperOf: (service: V1Service) => (serviceSelector.noteOf(service) ? undefined : proxyOf(service)),
    next: (service: V1Service, kept?: V1Service) => nextRestoring(service, kept?.spec?.selector),
};

/** Whether a run has pointed a Service to a proxy, and not restored it. */
export function isPointing(service: V1Service): boolean {
    return serviceSelector.isNoted(service) || proxyOf(service) !== undefined;
}

/** Whether somebody has merged other labels into the selector of a proxy, which has none of them. */
export const selectsNobody = ({ spec }: V1Service): boolean =>
    proxyOf({ spec }) !== undefined && Object.keys(spec!.selector!).length > 1;

export const proxyOf = ({ spec }: V1Service): string | undefined => spec?.selector?.[labels.proxy];

/** The merge patch of a map that makes it another. */
const replaced = (before: Record<string, string>, after: Record<string, string>) => ({
    ...Object.fromEntries(Object.keys(before).map((key) => [key, null])),
    ...after,
});
