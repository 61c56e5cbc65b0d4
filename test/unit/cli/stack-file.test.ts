import { load } from "js-yaml";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { StackFile } from "../../../cli/stack-file";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-stack-file-"));
const path = join(folder, "stack.yaml");
afterAll(() => rmSync(folder, { recursive: true }));

const salt = "v1:abc=";
const secret = { secure: "v1:def=" };

describe("a stack's file", () => {
    it("may be missing; its secrets count as set, but are not read", () => {
        expect(new StackFile(join(folder, "none.yaml")).settings).toEqual({});
        writeFileSync(
            path,
            `encryptionsalt: ${salt}\nconfig:\n  chaos-shop:variant: seven\n  chaos-shop:agent.key:\n    ` +
                `secure: ${secret.secure}\n  aws:region: eu-north-1\n`,
        );
        const file = new StackFile(path);
        expect(file.settings).toEqual({ variant: "seven" });
        expect(["variant", "agent.key", "namespace"].map((key) => file.has(key))).toEqual([true, true, false]);
    });

    it("keeps everything else when a setting is written, and writes numbers and booleans as text", () => {
        new StackFile(path).set({ "experiment.enabled": "true", "chaos-shop:experiment.run": "2", variant: undefined });
        expect(load(readFileSync(path, "utf8"))).toEqual({
            encryptionsalt: salt,
            config: {
                "chaos-shop:agent.key": secret,
                "aws:region": "eu-north-1",
                "chaos-shop:experiment.enabled": "true",
                "chaos-shop:experiment.run": "2",
            },
        });
    });
});
