import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { Reach } from "../../../../../../../chaos/kinds/attacks/fault/proxy/reach";
import { Pods, type Slice } from "../../../../../../../chaos/kinds/attacks/fault/proxy/slices";
import { makeCertificate } from "../../../../../../support/certificate";
import { closedPort, echoPod, httpPod } from "./support";

const slice = (name: string, port: number, pod: string, ready = true): Slice => ({
    metadata: { name: `${pod}-${port}` },
    ports: [{ name, port }],
    endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready }, targetRef: { uid: `uid-of-${pod}`, name: pod } }],
});

function reaching(...slices: Slice[]) {
    return reachingWith(false, slices);
}

function reachingWith(readsRequests: boolean, slices: Slice[]) {
    const pods = new Pods();
    pods.update(slices);
    const written: string[] = [];
    const ports = ["http", "more"].map((name, at) => ({ name, listen: 8080 + at }));
    const reach = new Reach(pods, ports, readsRequests);
    return {
        pods,
        look: async () => {
            await reach.look((line) => written.push(line));
            return (JSON.parse(written.at(-1)!) as { reach: object[] }).reach;
        },
        written,
    };
}

it("the proxy says which ready pods it reaches, each where it listens", async () => {
    const [one, another] = [await echoPod(), await echoPod()];
    const { look } = reaching(
        slice("http", one.port, "a"),
        slice("http", another.port, "b"),
        slice("more", await closedPort(), "b"),
        slice("http", another.port, "c", false),
    );
    expect(await look()).toEqual([
        { pod: "a", listen: 8080, saw: "connected" },
        { pod: "b", listen: 8080, saw: "connected" },
        { pod: "b", listen: 8081, saw: "refused" },
    ]);
});

it("it tries again what it has not reached, and nothing else, and writes what has changed", async () => {
    const pod = await echoPod();
    const { look, pods, written } = reaching(slice("http", pod.port, "a"), slice("more", await closedPort(), "a"));
    await look();
    await look();
    expect([pod.sockets.length, written.length]).toEqual([1, 1]);
    const more = await echoPod();
    pods.update([slice("http", pod.port, "a"), slice("more", more.port, "a")]);
    expect(await look()).toContainEqual({ pod: "a", listen: 8081, saw: "connected" });
    expect([pod.sockets.length, written.length]).toEqual([1, 2]);
});

it("if requests are to be read, it asks once which pods answer in TLS", async () => {
    const folder = mkdtempSync(join(tmpdir(), "reach-"));
    const { keyFile, certificateFile } = makeCertificate(folder);
    const [key, cert] = [readFileSync(keyFile), readFileSync(certificateFile)];
    rmSync(folder, { recursive: true });
    const [plain, old, grpc] = [await httpPod((_, answer) => answer.end()), await echoPod(), createHttp2Server()];
    const [secure, strict] = [
        createServer({ key, cert, ALPNProtocols: ["h2"] }),
        createServer({ key, cert, requestCert: true, maxVersion: "TLSv1.2" }),
    ];
    const servers = [secure, strict, grpc];
    const ports = await Promise.all(
        servers.map(async (server) => {
            await once(server.listen(0, "127.0.0.1"), "listening");
            return (server.address() as AddressInfo).port;
        }),
    );
    onTestFinished(() => servers.forEach((server) => server.close()));
    const pods = [plain, old.port, ports[2]!, ports[0]!, ports[1]!];
    const { look } = reachingWith(
        true,
        pods.map((port, at) => slice("http", port, String(at))),
    );
    const saw = ["connected", "connected", "connected", "encrypted", "encrypted"];
    const found = (await look()) as { pod: string }[];
    expect(found.sort((a, b) => Number(a.pod) - Number(b.pod))).toEqual(
        saw.map((one, at) => ({ pod: String(at), listen: 8080, saw: one })),
    );
    await look();
    expect(old.sockets.length).toBe(2);
});
