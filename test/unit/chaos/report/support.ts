import { readFileSync } from "node:fs";
import { join } from "node:path";
import { journalSchema } from "../../../../chaos/report/journal-schema";

/** Of a real run of departments-scaled-in-time, as its file has it. */
export const written = JSON.parse(readFileSync(join(__dirname, "journal.json"), "utf8"));
export const journal = journalSchema.parse(written);

export const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;
