import { readFileSync } from "node:fs";
import { join } from "node:path";
import { journalSchema } from "../../../../chaos/report/journal-schema";
import { upgraded } from "../../../../chaos/report/journal-versions";

const kept = (file: string) => JSON.parse(readFileSync(join(__dirname, file), "utf8"));

/** Of a real run of hot-deals-blackhole, as version 1 wrote it. */
export const version1 = kept("journal-version-1.json");
/** Of a real run of departments-scaled-in-time, as version 2 wrote it. */
export const version2 = kept("journal-version-2.json");
/** The same, as this version writes it. */
export const journal = journalSchema.parse(upgraded(version2));

export const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;
