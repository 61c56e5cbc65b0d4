import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiServer } from "../../../services/gateway/podList";

/** Something that stands where an API server should be, over TLS, and an account that it may be asked with. */
export async function startApiServer(listener: RequestListener): Promise<{ apiServer: ApiServer; close(): void }> {
    const account = mkdtempSync(join(tmpdir(), "shop-account-"));
    writeFileSync(join(account, "token"), "a token");
    writeFileSync(join(account, "namespace"), "demo");
    const [key, cert] = makeCertificate(account);
    const server = createServer({ key, cert }, listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
        apiServer: { host: "127.0.0.1", port: String((server.address() as AddressInfo).port), account },
        close: () => {
            server.close();
            server.closeAllConnections();
            rmSync(account, { recursive: true });
        },
    };
}

/** Puts a new certificate into a folder as `ca.crt`. @returns its key, and it */
export function makeCertificate(folder: string): [key: Buffer, cert: Buffer] {
    const files = { key: join(folder, "key.pem"), cert: join(folder, "ca.crt") };
    const kind = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=test",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    ];
    execFileSync("openssl", ["req", "-x509", ...kind, "-keyout", files.key, "-out", files.cert], { stdio: "pipe" });
    return [readFileSync(files.key), readFileSync(files.cert)];
}
