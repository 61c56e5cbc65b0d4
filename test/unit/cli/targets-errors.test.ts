import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { project } from "../../../cli/stack-file";
import { makeCertificate } from "../../support/certificate";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-targets-"));
const kubeconfig = join(folder, "kubeconfig");
let server: Server;
/** What the API server answers, by path. */
let answers: Record<string, [status: number, body: object]> = {};

beforeAll(async () => {
    const { keyFile, certificateFile } = makeCertificate(folder);
    server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) }, (request, response) => {
        const path = request.url!.split("?")[0]!;
        const notFound = { kind: "Status", message: `${path} not found` };
        const [status, body] =
            answers[path] ?? (path === "/api/v1/namespaces" ? [200, { items: [] }] : [404, notFound]);
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cluster = { server: address, "certificate-authority": certificateFile };
    writeFileSync(
        kubeconfig,
        JSON.stringify({
            "current-context": "kind-test",
            clusters: [{ name: "test", cluster }],
            contexts: [{ name: "kind-test", context: { cluster: "test", user: "test" } }],
            users: [{ name: "test", user: {} }],
        }),
    );
});
afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
});

/** Runs `npm run targets`. */
function targets(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const command = ["--import", "tsx", "cli/targets.ts", "--stack", "local", ...args];
    return new Promise((resolve) =>
        execFile(process.execPath, command, { cwd: project, env }, (error, stdout, stderr) =>
            resolve({ code: error?.code ?? 0, stdout, stderr }),
        ),
    );
}

it("`npm run targets` names the right that is missing in one sentence, and nothing of the response", async () => {
    const message =
        'daemonsets.apps "agent" is forbidden: User "ada" cannot get resource "daemonsets" in API group "apps" ' +
        'in the namespace "demo-agent"';
    answers = { "/apis/apps/v1/namespaces/demo-agent/daemonsets/agent": [403, { kind: "Status", message }] };
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
    answers = { "/apis/apps/v1/namespaces/dmeo-agent/daemonsets/agent": [200, { metadata: { name: "agent" } }] };
    expect(await targets("--namespace", "dmeo")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(/^namespace dmeo does not exist in this cluster\. .*--namespace NAME\n$/),
    });
});
