import dns from "node:dns";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo, getDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { askApiServer } from "../../../../chaos/kinds/checks/request";
import { connect } from "../../../../chaos/cluster/client";
import { addressTimeoutMs } from "../../../../chaos/cluster/logins";
import { makeCertificate } from "../../../support/certificate";
import { slowServer } from "../../../support/slow-server";
import { otherResources } from "../../../../chaos/cluster/resources";

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
function writeKubeconfig(clientCertificate?: string, cluster = {}): void {
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
                        ...cluster,
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
    const cluster = connect({ context: "test" });
    for (const name of ["a", "b", "c"]) await cluster.read({ resource: otherResources.namespace, name });
    expect(connections).toBe(1);
});

it.runIf(process.platform === "linux")(
    "an API server with two addresses may take a second for a handshake",
    async () => {
        const named = makeCertificate(mkdtempSync(join(folder, "named-")), "DNS:api.example");
        const { port, goOn } = await slowServer(named.keyFile, named.certificateFile);
        writeKubeconfig(undefined, {
            server: `https://api.example:${port}`,
            "certificate-authority": named.certificateFile,
        });
        // Nobody listens at the second one.
        const found = ["127.0.0.1", "127.0.0.9"].map((address) => ({ address, family: 4 }));
        const lookup = (_name: string, _options: object, give: (error: null, all: object[]) => void) =>
            give(null, found);
        const spied = vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
        onTestFinished(() => void spied.mockRestore());
        const cluster = connect({ context: "test" });
        const { kubeconfig } = cluster;
        setTimeout(goOn, 400);
        const asked = askApiServer({ kubeconfig } as never, "/version", {});
        const [called, answered] = await Promise.all([
            cluster.read({ resource: otherResources.namespace, name: "a" }),
            asked,
        ]);
        expect(called).toBeDefined();
        expect(answered).toMatchObject({ status: 200 });
    },
);

it.each([
    [100, getDefaultAutoSelectFamilyAttemptTimeout()],
    [4_000, 1_000],
    [60_000, 1_500],
    [undefined, 1_500],
])("of an answer within %s ms, each address but the last has %i ms to accept the connection", (timeoutMs, ms) =>
    expect(addressTimeoutMs(timeoutMs)).toBe(ms),
);

it("a call without an answer ends at its timeout", async () => {
    server.removeAllListeners("request");
    writeKubeconfig();
    await expect(
        connect({ context: "test" }, 200).read({ resource: otherResources.namespace, name: "a" }),
    ).rejects.toThrow(/abort/i);
});

it("a call with other credentials gets its own connection", async () => {
    writeKubeconfig(certificateFile);
    const cluster = connect({ context: "test" });
    const { kubeconfig } = cluster;
    await cluster.read({ resource: otherResources.namespace, name: "a" });
    const { user } = kubeconfig.users[0]!;
    delete user["client-certificate"];
    delete user["client-key"];
    await cluster.read({ resource: otherResources.namespace, name: "b" });
    expect(connections).toBe(2);
});
