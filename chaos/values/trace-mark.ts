import { createHmac, randomBytes } from "node:crypto";

/**
 * The ID of a new trace, by whose second half those recognize it who know the key: it is a hash of the first. An
 * application that passes traces on keeps the ID, and replaces all else of the header `traceparent`.
 *
 * @returns 32 hexadecimal digits
 */
export function markedTraceId(key: string): string {
    const first = randomBytes(8).toString("hex");
    return first + secondOf(first, key);
}

/** Whether one of some headers has a trace ID that this key has marked, in any of the formats that have 128 bits. */
export function isMarked(headers: readonly (readonly [name: string, value: string])[], key: string): boolean {
    return headers.some(([name, value]) => {
        if (!/trace|^b3$/.test(name)) return false;
        const id = /(?<![\da-f])[\da-f]{32}(?![\da-f])/i.exec(value.slice(0, 200))?.[0].toLowerCase();
        return id !== undefined && id.slice(16) === secondOf(id.slice(0, 16), key);
    });
}

const secondOf = (first: string, key: string) => createHmac("sha256", key).update(first).digest("hex").slice(0, 16);
