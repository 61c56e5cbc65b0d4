import dns from "node:dns";
import { mkdtempSync, readFileSync } from "node:fs";
import { getDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { askApiServer } from "../../../../chaos/kinds/checks/request";
import { addressTimeoutMs } from "../../../../chaos/cluster/logins";
import { makeCertificate } from "../../../support/certificate";
import { slowServer } from "../../../support/slow-server";
import { otherResources } from "../../../../chaos/cluster/resources";
import { secureServer } from "./secure-server";

const server = secureServer();
const base64 = (text: string) => Buffer.from(text).toString("base64");
const called = (cluster: ReturnType<typeof server.cluster>) =>
    cluster.read({ resource: otherResources.namespace, name: "a" });

it.runIf(process.platform === "linux")(
    "an API server with two addresses may take a second for a handshake",
    async () => {
        const named = makeCertificate(mkdtempSync(join(server.folder, "named-")), "DNS:api.example");
        const { port, goOn } = await slowServer(named.keyFile, named.certificateFile);
        const cluster = server.cluster({
            server: `https://api.example:${port}`,
            "certificate-authority-data": base64(readFileSync(named.certificateFile, "utf8")),
        });
        // Nobody listens at the second one.
        const found = ["127.0.0.1", "127.0.0.9"].map((address) => ({ address, family: 4 }));
        const lookup = (_name: string, _options: object, give: (error: null, all: object[]) => void) =>
            give(null, found);
        const spied = vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
        onTestFinished(() => void spied.mockRestore());
        setTimeout(goOn, 400);
        const asked = askApiServer({ kubeconfig: cluster.kubeconfig } as never, "/version", {});
        const [read, answered] = await Promise.all([called(cluster), asked]);
        expect(read).toBeDefined();
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

it("a call with other credentials gets its own connection", async () => {
    const login = { "client-certificate-data": base64(server.cert), "client-key-data": base64(server.key) };
    const cluster = server.cluster({}, login);
    await called(cluster);
    const { user } = cluster.kubeconfig.users[0]!;
    delete user["client-certificate-data"];
    delete user["client-key-data"];
    await called(cluster);
    expect(server.connections).toBe(2);
});
