import { describe, expect, it } from "vitest";
import { journalJsonSchema, journalSchema } from "../../../../chaos/report/journal-schema";
import { bounded } from "./runs";
import { journal, written } from "./support";

describe("the journal", () => {
    it("of a real run matches its schema, and nothing of it is lost", () => expect(journal).toEqual(written));

    it("has a JSON Schema for other programs", () =>
        expect(journalJsonSchema()).toMatchObject({
            type: "object",
            properties: { attackedAt: { description: expect.stringContaining("all attacks were proven") } },
            required: expect.arrayContaining(["schema", "conclusion", "checks"]),
        }));

    it("has what the answers of a check show; those of earlier versions do not", () => {
        const { conclusion } = bounded.journal!;
        const other = JSON.parse(JSON.stringify({ ...journal, conclusion }));
        expect(journalSchema.parse(other).conclusion).toEqual(conclusion);
        expect(journal.conclusion.checks[0]).not.toHaveProperty("bound");
    });

    it("of a run that was aborted says when and why; others do not", () => {
        const aborted = { check: "/products", afterMs: 25_000, rate: "20%", answers: 10, below: "50%", overMs: 10_000 };
        const other = JSON.parse(JSON.stringify({ ...journal, aborted }));
        expect(journalSchema.parse(other).aborted).toEqual(aborted);
        expect(journalSchema.parse(journal)).not.toHaveProperty("aborted");
        expect(journalSchema.safeParse({ ...journal, aborted: { check: "/products" } }).success).toBe(false);
    });

    it.each<[string, object]>([
        ["a verdict that does not exist", { conclusion: { ...journal.conclusion, verdict: "SURVIVED" } }],
        ["another version of the schema", { schema: 3 }],
        ["answers without a time", { checks: [{ name: "/products", answers: [{ latencyMs: 1, good: true }] }] }],
    ])("with %s is rejected", (_, changes) =>
        expect(journalSchema.safeParse({ ...journal, ...changes }).success).toBe(false),
    );
});
