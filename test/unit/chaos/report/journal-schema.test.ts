import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalJsonSchema, journalSchema } from "../../../../chaos/report/journal-schema";
import { upgraded } from "../../../../chaos/report/journal-versions";
import { journal, version1, version2 } from "./support";

describe("the journal", () => {
    it("of a real run matches its schema, and nothing of it is lost", () =>
        expect(journalSchema.parse(journal)).toEqual(upgraded(version2)));

    it("has its schema in a file, for other programs", () => {
        const schema = readFileSync(
            join(__dirname, "..", "..", "..", "..", "chaos", "report", "journal.schema.json"),
            "utf8",
        );
        expect(JSON.parse(schema)).toEqual(JSON.parse(JSON.stringify(journalJsonSchema())));
    });

    it("of a run that was aborted says when and why; others, and those of earlier versions, do not", () => {
        const aborted = { check: "/products", afterMs: 25_000, rate: "20%", answers: 10, below: "50%", overMs: 10_000 };
        const written = JSON.parse(JSON.stringify({ ...journal, aborted }));
        expect(journalSchema.parse(written).aborted).toEqual(aborted);
        expect(journalSchema.parse(journal)).not.toHaveProperty("aborted");
        expect(journalSchema.safeParse({ ...journal, aborted: { check: "/products" } }).success).toBe(false);
    });

    it.each<[string, object]>([
        ["a verdict that does not exist", { conclusion: { ...journal.conclusion, verdict: "SURVIVED" } }],
        ["another version of the schema", { schema: 4 }],
        ["answers without a time", { checks: [{ name: "/products", answers: [{ latencyMs: 1, good: true }] }] }],
    ])("with %s is rejected", (_, changes) =>
        expect(journalSchema.safeParse({ ...journal, ...changes }).success).toBe(false),
    );

    it("of version 1 keeps everything that it said", () => {
        const read = journalSchema.parse(upgraded(version1));
        expect(read.plan).toMatchObject({
            attacks: [{ name: "blackhole", target: version1.plan.target, attack: version1.plan.attack }],
            window: { graceMs: 10_000, durationMs: 12_000 },
        });
        expect(read.attacks).toEqual([{ name: "blackhole", targets: version1.targets, provenAt: version1.attackedAt }]);
        expect(read.checks).toEqual([{ name: "/products", answers: version1.answers }]);
        expect(read.conclusion).toMatchObject(version1.conclusion);
    });

    it("of version 2 keeps everything that it said", () => {
        const { plan, ...rest } = upgraded(version2) as typeof version2;
        const { shopNamespace, ...samePlan } = version2.plan;
        expect(rest).toEqual({ ...version2, schema: 3, plan: undefined });
        expect(plan).toEqual({ ...samePlan, defaultNamespace: shopNamespace, reports: "reports" });
    });
});
