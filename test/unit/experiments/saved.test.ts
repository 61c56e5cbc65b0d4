import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mistakesIn } from "../../../chaos/definition/definition";
import { savedSchema } from "../../../experiments/saved";

const folder = join(__dirname, "..", "..", "..", "experiments", "saved");

it.each(readdirSync(folder))("the saved experiment %s has no mistakes", async (file) => {
    const { default: saved } = (await import(join(folder, file))) as { default: unknown };
    expect(mistakesIn(saved, file.replace(/\.ts$/, ""), savedSchema)).toEqual([]);
});

it("a variant that does not exist is rejected", () => {
    const attacks = [{ kind: "blackhole", target: "k8s.deployment=hot-deals" }];
    expect(mistakesIn({ hypothesis: "It holds.", attacks, variant: "eight" }, undefined, savedSchema)).toEqual([
        expect.stringMatching(/^variant: .*"seven"/),
    ]);
});
