import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { kubeconfigOf } from "../../support/kubeconfig";
import { runProgram } from "../../support/run-program";
import { scratchFolder } from "../../support/scratch";
import { type Served, servingObjects } from "../../support/serving";

const kubeconfig = join(scratchFolder(), "kubeconfig");
const objects: Served = { "/api/v1/namespaces": { items: [] } };
const server = servingObjects(objects);
beforeAll(() => writeFileSync(kubeconfig, kubeconfigOf("kind-test", server.url)));

const targets = (...args: string[]) =>
    runProgram("targets", ["--stack", "local", ...args], { ...process.env, KUBECONFIG: kubeconfig });

it("`npm run targets` names the right that is missing in one sentence, and nothing of the response", async () => {
    const message =
        'daemonsets.apps "agent" is forbidden: User "ada" cannot get resource "daemonsets" in API group "apps" ' +
        'in the namespace "demo-agent"';
    objects["/apis/apps/v1/namespaces/demo-agent/daemonsets/agent"] = { kind: "Status", code: 403, message };
    expect(await targets()).toEqual({
        code: 1,
        stdout: "",
        stderr:
            'the account "ada" may not get daemonsets in namespace demo-agent (403). Ask the cluster\'s ' +
            "administrator for that right, then check: kubectl --context kind-test auth can-i get daemonsets.apps " +
            "--namespace demo-agent\n",
    });
});

it("`npm run targets` says that a namespace does not exist, instead of listing other targets", async () => {
    objects["/apis/apps/v1/namespaces/dmeo-agent/daemonsets/agent"] = { metadata: { name: "agent" } };
    expect(await targets("--namespace", "dmeo")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(/^namespace dmeo does not exist in this cluster\. .*--namespace NAME\n$/),
    });
});
