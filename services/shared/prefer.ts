/** The longest wait that a request may ask for, in seconds. */
const LONGEST_WAIT_SECONDS = 30;

/**
 * How long a client prefers to wait for a result, in milliseconds: `Prefer: wait=10`, in seconds (RFC 7240). A longer
 * wait than 30 s counts as 30 s. As the RFC demands, what cannot be read is ignored.
 *
 * @param header the value of `Prefer`
 */
export function waitMsOf(header: string | undefined): number {
    const [, seconds = "0"] = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(header ?? "") ?? [];
    return Math.min(Number(seconds), LONGEST_WAIT_SECONDS) * 1_000;
}
