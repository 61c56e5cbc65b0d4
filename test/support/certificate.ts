import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Makes a self-signed certificate for 127.0.0.1 in a folder. @returns the paths of its key and of itself, in PEM */
export function makeCertificate(folder: string): { keyFile: string; certificateFile: string } {
    const [keyFile, certificateFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyFile];
    const subject = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", ["req", "-x509", ...key, ...subject, "-days", "1", "-out", certificateFile], {
        stdio: "ignore",
    });
    return { keyFile, certificateFile };
}
