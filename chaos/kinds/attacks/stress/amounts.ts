/** How much CPU and memory a stress takes: absolute, or a share of the container's limit. */
import { parsePercentage } from "../../../values/share";

/** What is taken: cores or bytes, or a share of the container's limit. */
type Amount = { of: number } | { share: number };

const sizes: Record<string, number> = { k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

export const allowedCpu = 'cores, such as "2" or "500m", or a percentage of the container\'s limit, such as "80%"';
export const allowedMemory =
    'at least 1Mi, such as "200Mi" or "1Gi", or a percentage of the container\'s limit, such as "80%"';

const mostCores = 1_024;
export const leastCores = 0.001;

/** As Kubernetes writes CPU. @returns undefined if the text is not an amount */
export function parseCpu(text: string): Amount | undefined {
    const share = parsePercentage(text);
    if (share !== undefined) return { share };
    const [, number, milli] = /^(\d+(?:\.\d+)?)(m?)$/.exec(text) ?? [];
    const cores = Number(number) / (milli ? 1_000 : 1);
    return cores >= leastCores && cores <= mostCores ? { of: cores } : undefined;
}

/** As Kubernetes writes memory, with a unit. @returns undefined if the text is not an amount */
export function parseMemory(text: string): Amount | undefined {
    const share = parsePercentage(text);
    if (share !== undefined) return { share };
    const [, number, unit] = /^(\d+(?:\.\d+)?)([kMG]|[KMG]i)$/.exec(text) ?? [];
    const bytes = Math.round(Number(number) * (sizes[unit!] ?? NaN));
    return bytes >= 2 ** 20 ? { of: bytes } : undefined;
}

/** In cores or bytes. Undefined if it is a share, and there is no limit. */
export const amountOf = (amount: Amount, limit: number | undefined): number | undefined =>
    "of" in amount ? amount.of : limit && amount.share * limit;

export const describeCores = (cores: number): string => {
    const rounded = Number(cores.toFixed(cores < 1 ? 3 : 2));
    return `${rounded} ${rounded === 1 ? "core" : "cores"}`;
};

export const describeBytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
