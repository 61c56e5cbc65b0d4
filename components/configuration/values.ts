import { parseAttributes } from "../../shared/attributes";
import { parseDuration } from "../../shared/duration";
import { allowedName, isName } from "../../shared/name";
import { allowedRadius, parseRadius, type Radius } from "../../shared/radius";

/** How one setting's text is read. `allowed` completes the sentence "allowed: …" of its error. */
export interface Reader<T> {
    allowed: string;
    /** @throws Error with a reason that is more exact than `allowed`, where there is one. */
    read(text: string): T | undefined;
}

/** One of a few words. */
export function oneOf<const T extends string>(...words: T[]): Reader<T> {
    return { allowed: words.join(", "), read: (text) => words.find((word) => word === text) };
}

/** `true` or `false`. */
export const flag: Reader<boolean> = {
    allowed: "true, false",
    read: (text) => ({ true: true, false: false })[text],
};

/** A whole number between `least` and `most`. */
export function count(least: number, most: number): Reader<number> {
    return {
        allowed: `a whole number from ${least} to ${most}`,
        read: (text) =>
            /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
    };
}

/** A duration, in milliseconds, between two durations. */
export function duration(least: string, most: string): Reader<number> {
    return {
        allowed: `a duration from ${least} to ${most}, such as 500ms, 30s or 5m0s`,
        read: (text) => {
            const milliseconds = parseDuration(text);
            if (milliseconds === undefined) return undefined;
            return milliseconds >= parseDuration(least)! && milliseconds <= parseDuration(most)!
                ? milliseconds
                : undefined;
        },
    };
}

/** A percentage above 0 and up to 100, as a share between 0 and 1. */
export const percentage: Reader<number> = {
    allowed: "a percentage above 0% and up to 100%, such as 99.5%",
    read: (text) => {
        const share = Number(/^(\d+(?:\.\d+)?)%$/.exec(text)?.[1]) / 100;
        return share > 0 && share <= 1 ? share : undefined;
    },
};

/** A number of containers, a percentage of those that match, or `all`. */
export const radius: Reader<Radius> = { allowed: allowedRadius, read: parseRadius };

/** A name that Kubernetes takes for a namespace (RFC 1123 label). */
export const label: Reader<string> = { allowed: allowedName, read: (text) => (isName(text) ? text : undefined) };

/** Any text but an empty one. */
export const text: Reader<string> = {
    allowed: "any text but an empty one",
    read: (value) => (value.trim() === "" ? undefined : value),
};

/** An image reference with a tag or a digest: what runs must not change by itself. */
export const image: Reader<string> = {
    allowed:
        "an image reference with a tag other than latest, or a digest, such as docker.io/library/node:22.23.3-bookworm-slim",
    read: (reference) =>
        /^[a-z0-9][^\s@]*(?::(?!latest$)[\w][\w.-]{0,127}|@sha256:[a-f0-9]{64})$/.test(reference)
            ? reference
            : undefined,
};

/** An attribute expression that does not name a pod. */
export const target: Reader<string> = {
    allowed: "attributes such as k8s.deployment=hot-deals,k8s.namespace=demo",
    read: (expression) => {
        const conditions = parseAttributes(expression);
        if (conditions.some(({ key }) => key === "k8s.pod.name" || key === "container.id")) {
            throw new Error(
                "a target is described by what outlives a restart, never by a pod's name or a container's id",
            );
        }
        return expression;
    },
};

/** An agent key: what fits into one HTTP header, and is too long to be guessed. */
export const agentKey: Reader<string> = {
    allowed: "8 to 512 visible ASCII characters, without spaces",
    read: (key) => (/^[\x21-\x7e]{8,512}$/.test(key) ? key : undefined),
};

/** The address of something on the web, over HTTP or HTTPS. */
export const httpAddress: Reader<string> = {
    allowed: "an address that begins with https:// or http://",
    read: (address) => (/^https?:\/\//.test(address) && URL.canParse(address) ? address : undefined),
};

/** The size of a volume. */
export const size: Reader<string> = {
    allowed: "a size such as 512Mi or 1Gi",
    read: (text) => (/^[1-9]\d*(?:Mi|Gi|Ti)$/.test(text) ? text : undefined),
};

/** Names of objects, comma-separated. */
export const names: Reader<string[]> = {
    allowed: "names, comma-separated, of lower-case letters, digits, dashes and dots",
    read: (list) => all(list, (name) => (/^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/.test(name) ? name : undefined)),
};

/** What Kubernetes takes for a label's or an annotation's key, and for a label's value. */
const qualifiedName = String.raw`(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?`;
const labelValue = String.raw`(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?`;

/** Labels of a node, all of which it must have. */
export const nodeLabels: Reader<Record<string, string>> = {
    allowed: "labels as key=value, comma-separated, such as pool=demo",
    read: (list) => {
        const pair = new RegExp(`^(${qualifiedName})=(${labelValue})$`);
        const pairs = all(list, (text) => pair.exec(text)?.slice(1) as [string, string] | undefined);
        return pairs && Object.fromEntries(pairs);
    },
};

/** A taint that a pod tolerates, as Kubernetes has it; without an effect all of its effects. */
export interface Toleration {
    key: string;
    operator: "Equal" | "Exists";
    value?: string;
    effect?: string;
}

/** Tolerations, written as taints are: `key=value:Effect`, where value and effect may be left out. */
export const tolerations: Reader<Toleration[]> = {
    allowed:
        "taints as key=value:Effect, key:Effect or key, comma-separated, with the effects NoSchedule, PreferNoSchedule and NoExecute",
    read: (list) => {
        const taint = new RegExp(
            `^(${qualifiedName})(?:=(${labelValue}))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$`,
        );
        return all(list, (text) => {
            const [, key, value, effect] = taint.exec(text) ?? [];
            return key === undefined
                ? undefined
                : {
                      key,
                      operator: value === undefined ? ("Exists" as const) : ("Equal" as const),
                      ...(value !== undefined && { value }),
                      ...(effect !== undefined && { effect }),
                  };
        });
    },
};

/**
 * Annotations, comma-separated. Their values may hold commas and equals signs, so that the next one begins where a key
 * with its prefix does.
 */
export const annotations: Reader<Record<string, string>> = {
    allowed: "annotations as prefix/key=value, comma-separated, such as cert-manager.io/cluster-issuer=letsencrypt",
    read: (list) => {
        const key = String.raw`[a-z0-9][-a-z0-9.]*\/[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?`;
        const pair = new RegExp(`^(${key})=(.*)$`, "s");
        const pairs = list
            .split(new RegExp(`,\\s*(?=${key}=)`))
            .map((text) => pair.exec(text.trim())?.slice(1) as [string, string] | undefined);
        return pairs.every((each) => each !== undefined) ? Object.fromEntries(pairs) : undefined;
    },
};

/** Each item of a comma-separated list as it is read; undefined where one is wrong. */
function all<T>(list: string, read: (item: string) => T | undefined): T[] | undefined {
    const items = list.split(",").map((item) => read(item.trim()));
    return items.every((item) => item !== undefined) ? items : undefined;
}

/** Host names, comma-separated (RFC 1123). */
export const hosts: Reader<string[]> = {
    allowed: "host names, comma-separated, such as shop.example.com",
    read: (list) => {
        const hostName =
            /^(?=.{1,253}$)(?:\*\.)?(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
        return all(list, (name) => (hostName.test(name) ? name : undefined));
    },
};
