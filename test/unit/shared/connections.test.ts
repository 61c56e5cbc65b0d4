import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { connect } from "../../../shared/kubernetes";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-connections-"));
const [keyFile, certificateFile, kubeconfigFile] = ["key.pem", "certificate.pem", "kubeconfig"].map((file) =>
    join(folder, file),
) as [string, string, string];
let server: Server;
let connections = 0;

beforeAll(() => {
    execFileSync(
        "openssl",
        [
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=test",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            keyFile,
            "-out",
            certificateFile,
        ],
        { stdio: "ignore" },
    );
});

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

it("calls to a cluster that follow one another share a connection", async () => {
    writeKubeconfig();
    const { core } = connect("test");
    for (const name of ["a", "b", "c"]) await core.readNamespace({ name });
    expect(connections).toBe(1);
});

it("a call that nobody answers ends", async () => {
    server.removeAllListeners("request");
    writeKubeconfig();
    await expect(connect("test", 200).core.readNamespace({ name: "a" })).rejects.toThrow(/abort/i);
});

it("a call with other credentials than the one before has a connection of its own", async () => {
    writeKubeconfig(certificateFile);
    const { kubeconfig, core } = connect("test");
    await core.readNamespace({ name: "a" });
    const user = kubeconfig.users[0]! as { certFile?: string; keyFile?: string };
    delete user.certFile;
    delete user.keyFile;
    await core.readNamespace({ name: "b" });
    expect(connections).toBe(2);
});
