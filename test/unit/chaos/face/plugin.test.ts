import { afterEach, describe, expect, it, vi } from "vitest";
import { mistakesOfWaiting } from "../../../../chaos/face/plugin";
import { askedVariable } from "../../../../chaos/run/asked-run";

afterEach(() => vi.unstubAllEnvs());

const mistakesIf = (enabled: boolean, until: string, dependsOn: unknown[]) =>
    mistakesOfWaiting("orders", { enabled, until }, { dependsOn: dependsOn as [] });

describe("in a program that is not in TypeScript, what an experiment waits for", () => {
    it("must not keep an attack that stays until it is disabled", () => {
        expect(mistakesIf(true, "disabled", [{}])).toEqual([expect.stringContaining("excludes dependsOn")]);
        expect(mistakesIf(true, "verdict", [{}])).toEqual([]);
        expect(mistakesIf(true, "disabled", [])).toEqual([]);
        expect(mistakesIf(false, "disabled", [{}])).toEqual([]);
    });

    it("must not if chaos repeat enables it, whatever the program says, and may if that disables it", () => {
        const ask = (experiment: string, enabled: boolean) =>
            vi.stubEnv(askedVariable, JSON.stringify({ experiment, enabled, run: "1" }));
        ask("orders", true);
        expect(mistakesIf(false, "disabled", [{}])).toHaveLength(1);
        ask("orders", false);
        expect(mistakesIf(true, "disabled", [{}])).toEqual([]);
        ask("others", true);
        expect(mistakesIf(false, "disabled", [{}])).toEqual([]);
    });
});
