import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Cluster } from "../../../../chaos/cluster/client";
import { undoWith } from "../../../../chaos/run/rejected-login";
import { refuse } from "../support/fake-cluster";

const server = "https://203.0.113.5:6443";
const kubeconfig = (token: string, { at = server, ca = "Y2E=", context = "prod" } = {}) =>
    JSON.stringify({
        clusters: [{ name: "c", cluster: { server: at, "certificate-authority-data": ca } }],
        users: [{ name: "u", user: { token } }],
        contexts: [{ name: context, context: { cluster: "c", user: "u" } }],
        "current-context": context,
    });

const folder = mkdtempSync(join(tmpdir(), "chaos-experiments-"));
const usual = process.env.KUBECONFIG;
afterAll(() => {
    if (usual === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = usual;
    rmSync(folder, { recursive: true });
});

/** Undoes something in a cluster that rejects the token `old`. */
async function undone(text: string | undefined, here: string, code = 401) {
    process.env.KUBECONFIG = join(folder, "config");
    writeFileSync(process.env.KUBECONFIG, here);
    const said: string[] = [];
    const undo = async ({ kubeconfig }: Cluster) =>
        kubeconfig.users[0]!.user.token === "old" ? refuse(code, "no") : kubeconfig.getCurrentContext();
    return { context: await undoWith({ kubeconfig: text, context: "prod" }, undo, (line) => said.push(line)), said };
}

describe("a kubeconfig in the state that the API server rejects", () => {
    it("must not keep a run from being undone, if this machine has a context for the same cluster", async () => {
        const { context, said } = await undone(kubeconfig("old"), kubeconfig("new", { context: "mine" }));
        expect(context).toBe("mine");
        expect(said).toEqual([expect.stringContaining("rejected (401); using the context mine of this machine")]);
    });

    it.each([
        ["another cluster", kubeconfig("new", { at: "https://203.0.113.6:6443" })],
        ["a cluster at the same address with another authority", kubeconfig("new", { ca: "b3RoZXI=" })],
    ])("must not lead to %s: the error says how to name one", async (_, here) => {
        await expect(undone(kubeconfig("old"), here)).rejects.toThrow(
            `the API server at ${server} rejects the kubeconfig that the stack's state has for this run (401)`,
        );
        await expect(undone(kubeconfig("old"), here)).rejects.toThrow("set KUBECONFIG to its path, then run the");
    });
});

it("another problem, or this machine's own kubeconfig, is told as it is", async () => {
    await expect(undone(kubeconfig("old"), kubeconfig("new"), 403)).rejects.toThrow("no");
    await expect(undone(undefined, kubeconfig("old"))).rejects.toThrow("no");
});
