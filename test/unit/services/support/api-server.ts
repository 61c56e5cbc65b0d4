import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ApiServer } from "../../../../chaos/cluster/in-cluster-api";

/** A TLS server in place of an API server, and an account to call it with. Both end with the test. */
export async function startApiServer(listener: RequestListener): Promise<ApiServer> {
    const account = mkdtempSync(join(tmpdir(), "shop-account-"));
    writeFileSync(join(account, "token"), "a token");
    writeFileSync(join(account, "namespace"), "demo");
    const [key, cert] = makeCertificate(account);
    const server = createServer({ key, cert }, listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
        server.close();
        server.closeAllConnections();
        rmSync(account, { recursive: true });
    });
    return { host: "127.0.0.1", port: (server.address() as AddressInfo).port, account };
}

/** Writes a new certificate to a folder as `ca.crt`. @returns its key, and it */
export function makeCertificate(folder: string): [key: Buffer, cert: Buffer] {
    const files = { key: join(folder, "key.pem"), cert: join(folder, "ca.crt") };
    const subject = ["-nodes", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"];
    const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", ...subject];
    execFileSync("openssl", ["req", "-x509", ...options, "-keyout", files.key, "-out", files.cert], { stdio: "pipe" });
    return [readFileSync(files.key), readFileSync(files.cert)];
}
