import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { connect } from "../../../../chaos/cluster/client";
import { makeCertificate } from "../../../support/certificate";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-connections-"));
const kubeconfigFile = join(folder, "kubeconfig");
const { keyFile, certificateFile } = makeCertificate(folder);
let server: Server;
let connections = 0;

afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(async () => {
    connections = 0;
    server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) }, (_, response) => {
        response
            .setHeader("content-type", "application/json")
            .end(JSON.stringify({ kind: "Namespace", metadata: { name: "demo" } }));
    });
    server.on("secureConnection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    vi.stubEnv("KUBECONFIG", kubeconfigFile);
});

afterEach(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
});

/** A kubeconfig with one context, `test`. */
function writeKubeconfig(clientCertificate?: string): void {
    const user =
        clientCertificate === undefined ? {} : { "client-certificate": clientCertificate, "client-key": keyFile };
    writeFileSync(
        kubeconfigFile,
        JSON.stringify({
            clusters: [
                {
                    name: "test",
                    cluster: {
                        server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
                        "certificate-authority": certificateFile,
                    },
                },
            ],
            users: [{ name: "test", user }],
            contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
        }),
    );
}

it("consecutive calls to a cluster share a connection", async () => {
    writeKubeconfig();
    const { core } = connect({ context: "test" });
    for (const name of ["a", "b", "c"]) await core.readNamespace({ name });
    expect(connections).toBe(1);
});

it("a call without an answer ends at its timeout", async () => {
    server.removeAllListeners("request");
    writeKubeconfig();
    await expect(connect({ context: "test" }, 200).core.readNamespace({ name: "a" })).rejects.toThrow(/abort/i);
});

it("a call with other credentials gets its own connection", async () => {
    writeKubeconfig(certificateFile);
    const { kubeconfig, core } = connect({ context: "test" });
    await core.readNamespace({ name: "a" });
    const user = kubeconfig.users[0]! as { certFile?: string; keyFile?: string };
    delete user.certFile;
    delete user.keyFile;
    await core.readNamespace({ name: "b" });
    expect(connections).toBe(2);
});
