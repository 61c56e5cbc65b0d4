import { execFileSync } from "node:child_process";
import { join } from "node:path";

/**
 * Makes a self-signed certificate in a folder.
 *
 * @param names whom it is for. @default this machine's address
 * @returns the paths of its key and of itself, in PEM
 */
export function makeCertificate(
    folder: string,
    names: `DNS:${string}` | `IP:${string}` = "IP:127.0.0.1",
): { keyFile: string; certificateFile: string } {
    const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyFile];
    const subject = ["-subj", "/CN=test", "-addext", `subjectAltName=${names}`];
    execFileSync("openssl", ["req", "-x509", ...key, ...subject, "-days", "1", "-out", certificateFile], {
        stdio: "ignore",
    });
    return { keyFile, certificateFile };
}
