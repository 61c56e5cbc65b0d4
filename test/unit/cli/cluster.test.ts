import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { demoCluster } from "../../../cli/cluster";
import { sandboxContext } from "../../../sandbox/node/addresses";
import { kubeconfigOf } from "../../support/kubeconfig";
import { scratchFolder } from "../../support/scratch";
import { serving } from "../../support/serving";

const folder = scratchFolder();
const sandboxUp = vi.hoisted(() => vi.fn());
// Building it takes minutes, and root.
vi.mock("../../../sandbox/node/up.js", () => ({ sandboxUp }));

let status = 200;
const server = serving((_, response) => {
    const body = status === 200 ? { metadata: { name: "kube-system" } } : { kind: "Status", message: "no" };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
afterEach(() => {
    vi.unstubAllEnvs();
    sandboxUp.mockReset();
    status = 200;
});

function kubeconfig(current: string, leadsTo = server.url, name = "kubeconfig"): string {
    const file = join(folder, name);
    writeFileSync(file, current === "" ? "{}" : kubeconfigOf(current, leadsTo));
    return file;
}

const demo = (file: string, named?: string) => {
    vi.stubEnv("KUBECONFIG", file);
    return demoCluster(() => undefined, named);
};

describe("the cluster of `npm start`", () => {
    it("is that of the current context, if it is local and answers", async () => {
        expect(await demo(kubeconfig("kind-mine"))).toMatchObject({ name: "kind-mine", local: "kind" });
    });

    it("is the sandbox without a current context, or if it is the sandbox's, which does not answer", async () => {
        const leadsThere = kubeconfig(sandboxContext, "https://198.18.0.2:6443", "sandbox");
        sandboxUp.mockResolvedValue({ kubeconfig: leadsThere });
        expect(await demo(kubeconfig(""))).toMatchObject({ local: "sandbox" });
        expect(await demo(kubeconfig("kind-mine"), sandboxContext)).toMatchObject({ local: "sandbox" });
        expect(sandboxUp).toHaveBeenCalledTimes(2);
    });

    it.each([
        ["refuses connections", () => kubeconfig("docker-desktop", "http://127.0.0.1:1"), /Docker Desktop.*refuses co/],
        [
            "rejects the login",
            () => ((status = 401), kubeconfig("kind-mine")),
            /your kind cluster.*credentials \(401\)/,
        ],
        ["is broken", () => ((status = 500), kubeconfig("kind-mine")), /your kind cluster, context kind-mine, cannot/],
        ["is not local", () => kubeconfig("prod"), /"prod".*may run there: npx pulumi .* prod --stack local/],
        ["does not exist", () => join(folder, "none"), /KUBECONFIG is ".*none", which does not exist/],
        [
            "cannot be read",
            () => (writeFileSync(join(folder, "bad"), "a: ["), join(folder, "bad")),
            /bad cannot be read/,
        ],
    ])("is refused with the reason if it %s, and the sandbox is not built instead", async (_, file, reason) => {
        const refused = demo(file());
        await expect(refused).rejects.toThrow(reason);
        await expect(refused).rejects.toThrow(/\nTo use the sandbox instead, .*: npm run sandbox -- up && eval "\$\(/);
        expect(sandboxUp).not.toHaveBeenCalled();
    });
});
