import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mistakesIn } from "../../../experiments/validate";

const folder = join(__dirname, "..", "..", "..", "experiments", "saved");
const right = { hypothesis: "It holds.", target: "k8s.deployment=hot-deals", attack: { kind: "blackhole" } };

describe("a saved experiment", () => {
    it.each(readdirSync(folder))("%s has no mistake", async (file) => expect(mistakesIn((await import(join(folder, file))).default)).toEqual([]));

    it.each<[string, object, string[]]>([
        ["an unknown attack", { attack: { kind: "blackhol" } }, ["attack.kind: Invalid discriminator value. Expected 'blackhole' | 'dns' | 'kill'"]],
        ["a target that is no expression", { target: "hot-deals" }, [expect.stringMatching(/^target: .*hot-deals/) as unknown as string]],
        ["no hypothesis", { hypothesis: " " }, [expect.stringMatching(/^hypothesis: /) as unknown as string]],
        ["a port that there is not", { attack: { kind: "blackhole", ports: [0] } }, [expect.stringMatching(/^attack\.ports\.0: /) as unknown as string]],
        ["what its attack does not know", { attack: { kind: "dns", ports: [53] } }, [expect.stringContaining('"ports"') as unknown as string]],
        ["a typing error in a name", { atack: { kind: "dns" } }, [expect.stringContaining('"atack"') as unknown as string]],
        ["a variant that there is not", { variant: "eight" }, [expect.stringMatching(/^variant: .*"seven"/) as unknown as string]],
        ["pods killed too often", { attack: { kind: "kill", intervalMs: 10 } }, [expect.stringMatching(/^attack\.intervalMs: .*1000/) as unknown as string]],
    ])("with %s is refused, and told what would be right", (_, changes, mistakes) => expect(mistakesIn({ ...right, ...changes })).toEqual(mistakes));

    it("is told all its mistakes at once", () => expect(mistakesIn({ target: "x", attack: { kind: "burn" } })).toHaveLength(3));
});
