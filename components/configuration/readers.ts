import type { AttackDefinition, Toleration } from "../../chaos/index";
import { checkedAttributes } from "../../chaos/targets/attributes";
import { allowedDuration, durationWithin, type Range } from "../../chaos/values/duration";
import { dnsLabel, dnsSubdomain, type TextRule } from "../../chaos/values/kubernetes-rules";
import { allowedAtLeast, confidenceOf, confidenceSettingsSchema } from "../../chaos/kinds/checks/confidence";
import { allowedLatencyLimit, parseLatencyLimits } from "../../chaos/kinds/checks/change-limits";
import type { Confidence } from "../../chaos/values/bound";
import type { ChangeLimit } from "../../chaos/values/compared";
import { nodeImage } from "../../chaos/pods/pod-security";
import { allowedPercentage, parsePercentage, type Share } from "../../chaos/values/share";
import { allowedRadius, parseRadius } from "../../chaos/targets/radius";

/** Parses one setting's text. */
export interface Reader<T> {
    /** Completes "allowed: …" in an error. */
    allowed: string;
    /**
     * @returns undefined if the text is invalid
     * @throws Error with a reason, if `allowed` alone does not explain the mistake
     */
    read(text: string): T | undefined;
    /** The values, if they can be listed. */
    words?: readonly string[];
    /** What the value is measured in. @default nothing */
    unit?: "Ms";
}

const byRule = ({ allowed, isValid }: TextRule): Reader<string> => ({
    allowed,
    read: (text) => (isValid(text) ? text : undefined),
});

const matching = (pattern: RegExp, allowed: string) => byRule({ allowed, isValid: (text) => pattern.test(text) });

export function oneOf<const T extends string>(...words: T[]): Reader<T> {
    return { allowed: words.join(", "), words, read: (text) => words.find((word) => word === text) };
}

export const flag: Reader<boolean> = {
    ...oneOf("true", "false"),
    read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

export function count(least: number, most: number): Reader<number> {
    return {
        allowed: `a whole number from ${least} to ${most}`,
        read: (text) =>
            /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
    };
}

export const duration = (range: Range): Reader<number> & { unit: "Ms" } => ({
    unit: "Ms",
    allowed: allowedDuration(range),
    read: (text) => durationWithin(range, text),
});

export const percentage: Reader<Share> = { allowed: allowedPercentage(), read: parsePercentage };

/** With the usual level. */
export const confidence: Reader<Confidence> = {
    allowed: allowedAtLeast,
    read: (atLeast) => {
        const { success, data } = confidenceSettingsSchema.safeParse({ atLeast });
        return success ? confidenceOf(data) : undefined;
    },
};

/** Of all checks that show how fast the application is. */
export const latencyLimits: Reader<ChangeLimit[]> = {
    allowed: `for p50, p95 or p99 ${allowedLatencyLimit}; comma-separated, as in p95=2x,p99=+200ms`,
    read: parseLatencyLimits,
};

/** As a definition has it. A number stays a text, which a definition reads, too. */
export const radius: Reader<NonNullable<AttackDefinition["radius"]>> = {
    allowed: allowedRadius,
    read: (text) => (parseRadius(text) === undefined ? undefined : (text as "all")),
};

export const label = byRule(dnsLabel());

export const text = matching(/\S/, "any text that is not empty");

/** An image reference with a tag or a digest: without one, what runs could change between updates. */
export const image = matching(
    /^[a-z0-9][^\s@]*(?::(?!latest$)[\w][\w.-]{0,127}|@sha256:[a-f0-9]{64})$/,
    `an image reference with a digest, or a tag other than latest, such as ${nodeImage}`,
);

/** An attribute expression that does not name a pod. */
export const target: Reader<string> = {
    // Names no namespace, so the stack's own is meant: any other could have another stack's shop.
    allowed: "attributes such as k8s.deployment=hot-deals",
    read: (expression) => {
        const conditions = checkedAttributes(expression);
        if (conditions.some(({ key }) => key === "k8s.pod.name" || key === "container.id"))
            throw new Error(
                "a target is described by attributes that survive a restart, not by a pod's name or a container's id",
            );
        return expression;
    },
};

/** The name of an object of most types. */
export const objectName = byRule(dnsSubdomain);

/** An agent key: fits into an HTTP header, and is too long to guess. */
export const agentKey = matching(/^[\x21-\x7e]{8,512}$/, "8 to 512 visible ASCII characters, without spaces");

export const httpAddress = byRule({
    allowed: "a URL that begins with https:// or http://",
    isValid: (address) => /^https?:\/\//.test(address) && URL.canParse(address),
});

/**
 * Kubernetes' notation of a quantity above 0
 * (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/). Without parts of a byte (`m`): of
 * those it warns.
 */
export const size = matching(
    /^\+?(?=[.0]*[1-9])(?:\d+\.?\d*|\.\d+)(?:[KMGTPE]i|[kMGTPE]|[eE][-+]?\d+)?$/,
    "a size such as 512Mi, 1.5Gi or 2G",
);

const listOf = (item: Reader<string>): Reader<string[]> => ({
    allowed: item.allowed,
    read: (list) => all(list, (text) => item.read(text)),
});

export const names = listOf({
    ...objectName,
    allowed: "names, comma-separated, of lower-case letters, digits, dashes and dots",
});

/** A host name, or a wildcard for its first label (RFC 1123). */
const hostName =
    /^(?=.{1,253}$)(?:\*\.)?(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
export const hosts = listOf(matching(hostName, "host names, comma-separated, such as shop.example.com"));

/** Kubernetes' syntax for keys of labels and annotations, and for values of labels. */
const qualifiedName = String.raw`(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?`;
const labelValue = String.raw`(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?`;

/** Node labels; a node must have all of them. */
export const nodeLabels: Reader<Record<string, string>> = {
    allowed: "labels as key=value, comma-separated, such as pool=demo",
    read: (list) => pairsIn(list, new RegExp(`^(${qualifiedName})=(${labelValue})$`)),
};

/** Tolerations in the notation of taints: `key=value:Effect`. One without an effect covers all effects. */
export const tolerations: Reader<Toleration[]> = {
    allowed:
        "taints as key=value:Effect, key:Effect or key, comma-separated, " +
        "with the effects NoSchedule, PreferNoSchedule and NoExecute",
    read: (list) => {
        const taint = new RegExp(
            `^(${qualifiedName})(?:=(${labelValue}))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$`,
        );
        return all(list, (text) => {
            const [, key, value, effect] = taint.exec(text) ?? [];
            const has = { ...(value !== undefined && { value }), ...(effect !== undefined && { effect }) };
            return key === undefined ? undefined : { key, operator: value === undefined ? "Exists" : "Equal", ...has };
        });
    },
};

/**
 * Annotations, comma-separated. A value may contain commas and equals signs: only a comma before a key with a prefix
 * separates.
 */
export const annotations: Reader<Record<string, string>> = {
    allowed: "annotations as prefix/key=value, comma-separated, such as cert-manager.io/cluster-issuer=letsencrypt",
    read: (list) => {
        const key = String.raw`[a-z0-9][-a-z0-9.]*\/[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?`;
        return pairsIn(list, new RegExp(`^(${key})=(.*)$`, "s"), new RegExp(`,\\s*(?=${key}=)`));
    },
};

/** Items that a pattern with two groups takes apart: keys and values. */
function pairsIn(list: string, pair: RegExp, separator?: RegExp): Record<string, string> | undefined {
    const pairs = all(list, (text) => pair.exec(text)?.slice(1) as [string, string] | undefined, separator);
    return pairs && Object.fromEntries(pairs);
}

/** The parsed items of a list; undefined if one is invalid. */
function all<T>(
    list: string,
    read: (item: string) => T | undefined,
    separator: string | RegExp = ",",
): T[] | undefined {
    const items = list.split(separator).map((item) => read(item.trim()));
    return items.every((item) => item !== undefined) ? items : undefined;
}
