import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { shellSetup, withShellSetup } from "../../../cli/shell-setup";
import { requirePassphrase } from "../../../toolchain/pulumi/environment";
import { scratchFolder } from "../../support/scratch";

const home = scratchFolder();
afterEach(() => vi.unstubAllEnvs());

describe("a command in an error", () => {
    const versions = { PULUMI_VERSION: "3", PULUMI_SKIP_UPDATE_CHECK: "true" };

    it("comes with what the shell needs before it, as on a first start", () => {
        vi.stubEnv("KUBECONFIG", "/mine");
        expect(shellSetup({ KUBECONFIG: "/mine", PULUMI_BACKEND_URL: "file:///my state", ...versions })).toEqual([]);
        expect(shellSetup({ KUBECONFIG: "/mine", PULUMI_BACKEND_URL: "file:///my state" })).toHaveLength(2);
        expect(shellSetup({ KUBECONFIG: "/other", ...versions })).toEqual(['eval "$(npm run -s sandbox -- env)"']);
    });

    it("for the sandbox that this process has chosen comes with its setup, also if it is kubectl's", () => {
        vi.stubEnv("KUBECONFIG", "/sandbox");
        expect(withShellSetup("wrong; run: kubectl get pods", {})).toMatch(/\nFirst, in your shell: .*sandbox -- env/);
        expect(withShellSetup("wrong", {})).toBe("wrong");
    });

    it("of another program needs nothing", () => {
        expect(withShellSetup("wrong; run: kubectl get pods")).toBe("wrong; run: kubectl get pods");
    });
});

describe("a backend of files", () => {
    const env = (set: NodeJS.ProcessEnv) => ({ PULUMI_HOME: home, ...set });
    const refused = (set: NodeJS.ProcessEnv) => () => requirePassphrase(env(set));
    const files = { PULUMI_BACKEND_URL: "s3://state?region=eu" };

    it("without a passphrase is refused, with the command that sets it", () => {
        expect(refused(files)).toThrow(
            "Pulumi's backend s3://state needs the passphrase that encrypts the secrets of its stacks, and neither " +
                "PULUMI_CONFIG_PASSPHRASE nor PULUMI_CONFIG_PASSPHRASE_FILE is set. Nothing was touched.",
        );
        expect(refused(files)).toThrow(/\n {2}read -rs PULUMI_CONFIG_PASSPHRASE && export PULUMI_CONFIG_PASSPHRASE$/);
        expect(refused({ ...files, PULUMI_CONFIG_PASSPHRASE_FILE: join(home, "none") })).toThrow("does not exist");
    });

    it.each([
        ["with a passphrase, also an empty one", { ...files, PULUMI_CONFIG_PASSPHRASE: "" }],
        ["with a passphrase's file", { ...files, PULUMI_CONFIG_PASSPHRASE_FILE: home }],
        ["of the Pulumi Cloud", { PULUMI_BACKEND_URL: "https://api.pulumi.com" }],
        ["of the Pulumi Cloud, by its token", { PULUMI_ACCESS_TOKEN: "pul-1" }],
        ["that this project chooses", {}],
    ])("%s is not", (_, set) => expect(refused(set)).not.toThrow());
});
