import type { HttpCheck } from "../../kinds/checks/http";
import type { DefinedExperiment } from "../../definition/arguments";
import { type Duration, formatDuration, parseDuration, times } from "../../values/duration";
import type { Fields } from "./fields";

/** What a person adds to the file. */
export interface Additions {
    /** The experiment's `hypothesis`, in place of the file's. */
    hypothesis?: string;
    /** Namespace of targets for which the file names none. */
    namespace?: string;
    /** Name of the Service through which a fault reaches its pods. */
    service?: string;
    /** Values of the file's placeholders, by their names. */
    set?: Readonly<Record<string, string>>;
    /** Addresses that must answer, besides the file's checks. */
    checks: readonly HttpCheck[];
}

/** An attack, an action or a check as far as it was read. The experiment's own validation judges it. */
export type Draft = Record<string, unknown> & { kind: string };

/** What a format's reader finds. Missing parts have been refused. */
export interface Found extends Partial<DefinedExperiment> {
    /** As in the file. */
    name?: string;
    /** Places in the file by those in the experiment, such as `attacks.0.match`. */
    places?: Record<string, string>;
}

/** One of a document's experiments. */
export interface Part {
    /** What is said of it is in its remarks. */
    object: Fields;
    /** Where its name is. */
    nameKey: string;
    found: Found;
}

/** @param keys keys of `fields`, by those of the part */
export function placesOf(part: string, fields: Fields, keys: Readonly<Record<string, string>>): Record<string, string> {
    const inner = Object.entries(keys).map(([of, key]) => [`${part}.${of}`, fields.at(key)] as const);
    return { [part]: fields.at(), ...Object.fromEntries(inner) };
}

/** Such as `gateway.shop.svc`: https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/ */
const ofService = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.cluster\.local)?\.?$/;

/**
 * The check that an address answers: through a Service, if it is one in a cluster.
 * @throws Error with what is wrong, without the address, which may contain a secret
 */
export function checkOf(address: string): HttpCheck {
    let url: URL;
    try {
        url = new URL(address);
    } catch {
        throw new Error("is not an absolute URL, such as https://shop.example/products");
    }
    const { protocol, hostname, port, pathname, search, origin, username, password } = url;
    if (protocol !== "http:" && protocol !== "https:") throw new Error("is not a URL with http or https");
    if (username !== "" || password !== "") throw new Error("has a password; use headersFrom with a Secret");
    const path = pathname + search;
    const [, service, namespace] = ofService.exec(hostname) ?? [];
    if (service === undefined) {
        if (!/[.:]/.test(hostname))
            throw new Error(
                `is of a host that only a pod knows as ${hostname}; allowed: an address that this machine reaches, ` +
                    "or http://NAME.NAMESPACE.svc:PORT/PATH for a Service",
            );
        return { kind: "http", url: origin, path };
    }
    const isSecure = protocol === "https:";
    const scheme = isSecure ? { scheme: "https" as const } : {};
    return { kind: "http", service, namespace, port: Number(port) || (isSecure ? 443 : 80), ...scheme, path };
}

/** A Service as pods of other namespaces may call it, or else a domain: not one with a suffix that many have. */
const ofServiceOrDomain = /^[a-z0-9-]+\.(?!(?:[a-z]{2}|com|net|org|edu|gov|info|dev|app|cloud|example)$)[a-z0-9-]+$/;

/** What is said of an address that may be of a Service. */
export function hintOf({ url = "http://none" }: HttpCheck): string | undefined {
    const { hostname } = new URL(url);
    return ofServiceOrDomain.test(hostname)
        ? "is asked from where the update runs, not from a pod: if its host is a Service and its namespace, " +
              `write ${hostname}.svc in its place`
        : undefined;
}

/** The same of an address in a file. Undefined if it was refused. */
export function checkAt(fields: Fields, key: string): HttpCheck | undefined {
    const url = fields.text(key);
    if (!fields.has(key)) return void fields.refuse("is missing", key);
    try {
        const check = url === undefined ? undefined : checkOf(url);
        const hint = check && hintOf(check);
        if (hint !== undefined) fields.note(hint, key);
        return check;
    } catch (error) {
        return void fields.refuse((error as Error).message, key);
    }
}

export const usualWindowMs = parseDuration(times.duration.usual)!;

/** A window without grace, which the formats do not know. @param key of the duration in `fields`, for a remark */
export function windowOf(
    durationMs: number,
    attacks: readonly Draft[],
    fields: Fields,
    key: string,
): { window: { duration: Duration; grace?: Duration } } {
    const { most } = times.duration;
    const isTooLong = durationMs > parseDuration(most)!;
    if (isTooLong) fields.note(`is longer than a window may be, and ${most} here`, key);
    const duration = isTooLong ? most : formatDuration(durationMs);
    return { window: { duration, ...(attacks.length > 0 && { grace: "0s" }) } };
}

/** This is longer than any run, so only the first kill of an attack is made. */
const neverMs = 24 * 3_600_000;

/** Both formats delete these pods; a kill does not. */
export const killsFewer =
    "pods without a controller, pods of a Job and pods that are not ready are deleted there, and left alone here";

export const killOnce: Draft = { kind: "kill", intervalMs: neverMs };

/** Of a check that both formats may have. */
export const onlyUnderAttack =
    "wants a status that is right only under the attack, but a check must hold before it, too (nearest: a range with " +
    "both, such as 200-503)";
