/** Writes a line for a person to the pod's log, beside the reports. */
export function log(message: unknown): void {
    process.stderr.write(`${message instanceof Error ? (message.stack ?? message.message) : String(message)}\n`);
}
