import { load } from "js-yaml";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StackFile } from "../../../cli/stack-file";
import { scratchFolder } from "../../support/scratch";

const folder = scratchFolder();
const path = join(folder, "stack.yaml");

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

    it("has the keys and values that Pulumi reads in it", () => {
        writeFileSync(
            path,
            "config:\n  namespace: first\n  chaos-shop:namespace: last\n  chaos-shop:config:kube.context: mine\n" +
                "  chaos-shop:variant: four\n  variant: seven\n  experiment.enabled: True\n  experiment.run:\n" +
                "  chart.version: 1.10\n  experiment.name: 2026-11-21\n  experiment: {radius: 1}\n" +
                "  agent.key:\n    secure: v1:def=\n  agent: {key: {secure: v1:def=}}\n  aws:region: eu-north-1\n",
        );
        expect(new StackFile(path).settings).toEqual({
            namespace: "last",
            "kube.context": "mine",
            variant: "seven",
            "experiment.enabled": "true",
            "experiment.run": "",
            "chart.version": "1.1",
            "experiment.name": "2026-11-21 00:00:00 +0000 UTC",
            experiment: '{"radius":1}',
        });
        expect(
            ["agent.key", "chaos-shop:namespace", "kube.context"].map((key) => new StackFile(path).has(key)),
        ).toEqual([true, true, true]);
    });

    it("has one entry of a key that is set, in whichever form it was", () => {
        writeFileSync(path, "config:\n  variant: four\n  chaos-shop:config:namespace: demo\n");
        new StackFile(path).set({ variant: "seven", namespace: undefined });
        expect(load(readFileSync(path, "utf8"))).toEqual({ config: { "chaos-shop:variant": "seven" } });
    });

    it.each(["", "# nothing\n", "config:\n", "encryptionsalt: v1:abc=\n"])("may set nothing: %j", (text) => {
        writeFileSync(path, text);
        expect(new StackFile(path).settings).toEqual({});
        new StackFile(path).set({ variant: "seven" });
        expect(new StackFile(path).settings).toEqual({ variant: "seven" });
    });

    it("leaves the defaults to Pulumi.yaml", () => {
        const ofProject = join(folder, "Pulumi.yaml");
        writeFileSync(
            ofProject,
            "config:\n  namespace: usual\n  variant: {type: string, default: seven}\n  install: {value: chart}\n" +
                "  manifest: {type: string}\n  token: {value: hush, secret: true}\n",
        );
        writeFileSync(path, "config:\n  install: program\n");
        expect(new StackFile(path).settings).toEqual({ namespace: "usual", variant: "seven", install: "program" });
        rmSync(ofProject);
    });

    it("that is not YAML is named with the line, and without its text, which may hold a secret", () => {
        writeFileSync(path, "config:\n  agent.key: hush\n agent.kye: hush\n");
        expect(() => new StackFile(path).settings).toThrow(/stack\.yaml cannot be read: .* in line 3; correct it$/);
        expect(() => new StackFile(path).settings).not.toThrow(/hush/);
    });

    it("wants a passphrase unless it names another provider of secrets", () => {
        expect(new StackFile(join(folder, "none.yaml")).wantsPassphrase).toBe(true);
        writeFileSync(path, "secretsprovider: default\n");
        expect(new StackFile(path).wantsPassphrase).toBe(true);
        writeFileSync(path, "secretsprovider: awskms://alias/mine\n");
        expect(new StackFile(path).wantsPassphrase).toBe(false);
    });
});
