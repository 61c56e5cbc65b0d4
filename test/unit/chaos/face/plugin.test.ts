import * as pulumi from "@pulumi/pulumi";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mistakesOfWaiting } from "../../../../chaos/face/plugin";
import { askedVariable } from "../../../../chaos/run/asked-run";

afterEach(() => vi.unstubAllEnvs());

const mistakesIf = (enabled: boolean, until: string, dependsOn: unknown[]) =>
    mistakesOfWaiting("orders", { enabled, until }, { dependsOn: dependsOn as [] });
const urnOf = (type: string) => new pulumi.DependencyResource(`urn:pulumi:local::shop::${type}::name`);

describe("in a program that is not in TypeScript, what an experiment waits for", () => {
    it("must not keep an attack that stays until it is disabled", async () => {
        expect(await mistakesIf(true, "disabled", [{}])).toEqual([expect.stringContaining("excludes dependsOn")]);
        expect(await mistakesIf(true, "verdict", [{}])).toEqual([]);
        expect(await mistakesIf(true, "disabled", [])).toEqual([]);
        expect(await mistakesIf(false, "disabled", [{}])).toEqual([]);
    });

    it("is also what a parent, or what it is deleted with, waits for; the stack waits for nothing", async () => {
        const mistakesWith = (options: pulumi.ComponentResourceOptions) =>
            mistakesOfWaiting("orders", { enabled: true, until: "disabled" }, options);
        const [stack, group] = ["pulumi:pulumi:Stack", "my:index:Group$my:index:Shop"].map(urnOf);
        expect(await mistakesWith({ parent: stack })).toEqual([]);
        expect(await mistakesWith({ parent: group })).toEqual([expect.stringContaining("excludes parent")]);
        expect(await mistakesWith({ deletedWith: group })).toEqual([expect.stringContaining("excludes deletedWith")]);
    });

    it("must not if chaos repeat enables it, whatever the program says, and may if that disables it", async () => {
        const ask = (experiment: string, enabled: boolean) =>
            vi.stubEnv(askedVariable, JSON.stringify({ experiment, enabled, run: "1" }));
        ask("orders", true);
        expect(await mistakesIf(false, "disabled", [{}])).toHaveLength(1);
        ask("orders", false);
        expect(await mistakesIf(true, "disabled", [{}])).toEqual([]);
        ask("others", true);
        expect(await mistakesIf(false, "disabled", [{}])).toEqual([]);
    });
});
