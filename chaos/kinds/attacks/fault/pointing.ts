/** A Service that points to a fault's proxy for a while. */
import type { V1Service } from "../../../values/kubernetes-types";
import { isDeepStrictEqual } from "node:util";
import { annotations, labels } from "../../../cluster/labels";
import { appliedIn, type Lent, type Loan, notesIn } from "../../../cluster/lend";
import { resources } from "../../../cluster/resources";
import { ReasonError } from "../../../values/reasons";

type Selector = Record<string, string>;

const notes = notesIn<Selector>(annotations.pointing);

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
 * Points a Service to a proxy.
 *
 * @param proxy name of the proxy
 * @throws ReasonError if its selector is not as it was when the run chose its targets, or another run's
 */
export const pointing = (run: string, proxy: string, selector: Selector): Lent<Selector> => ({
    run,
    value({ spec, metadata }: V1Service) {
        const wanted = proxyLabels(proxy);
        if ([selector, wanted].some((one) => isDeepStrictEqual(spec?.selector ?? {}, one))) return wanted;
        const message = `somebody has changed the selector of Service ${metadata!.name} since the targets were chosen`;
        throw new ReasonError("service-changed", message, "Start another run");
    },
});

/** What a Service selected before, by its note. Undefined if somebody has edited that. */
export function beforePointing(service: V1Service): Selector | undefined {
    const noted = notes.read(service)?.before;
    return noted?.[labels.proxy] === undefined ? noted : undefined;
}

/**
 * What a Service shall select after somebody has merged labels into the proxy's. A merge names only the labels that
 * change, and the rest is as it was. A client-side `kubectl apply` also takes away the labels that its manifest no
 * longer has, and could not, since the Service had none of them.
 */
function wantedByOthers(service: V1Service, merged: Selector, before: Selector = {}) {
    const applied = appliedIn<Selector>(service, "selector");
    const appliedBefore = notes.read(service)?.applied ?? {};
    const isDropped = (key: string) => applied !== undefined && key in appliedBefore && !(key in applied);
    const kept = Object.entries(before).filter(([key]) => !isDropped(key));
    return { ...Object.fromEntries(kept), ...merged };
}

/** A Service that points to a proxy. If its note is lost, the proxy's own Service keeps what it had selected. */
export const pointedService: Loan<Selector> = {
    field: "selector",
    resource: resources.service,
    notes,
    isLent: isPointing,
    keeperOf: (service: V1Service) => (beforePointing(service) ? undefined : proxyOf(service)),
    wanted(service: V1Service, kept?: V1Service) {
        const { selector = {} } = service.spec ?? {};
        const before = beforePointing(service) ?? kept?.spec?.selector;
        const { [labels.proxy]: proxy, ...merged } = selector;
        if (selectsNobody(service)) return wantedByOthers(service, merged, before);
        return proxy === undefined ? selector : (before ?? selector);
    },
};

/** Whether a run has pointed a Service to a proxy, and not restored it. */
export function isPointing(service: V1Service): boolean {
    return notes.read(service) !== undefined || proxyOf(service) !== undefined;
}

/** Whether somebody has merged other labels into the selector of a proxy, which has none of them. */
export const selectsNobody = ({ spec }: V1Service): boolean =>
    proxyOf({ spec }) !== undefined && Object.keys(spec!.selector!).length > 1;

export const proxyOf = ({ spec }: V1Service): string | undefined => spec?.selector?.[labels.proxy];
