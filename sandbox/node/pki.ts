import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addresses } from "./addresses";
import { runCommand } from "../../toolchain/run-command";
import { layout } from "./layout";
import { firstNode, secondNode, type SandboxNode } from "./nodes";

interface Certificate {
    readonly commonName: string;
    /** Kubernetes reads an organization as a group. */
    readonly organization?: string;
    readonly authority: "cluster" | "etcd";
    readonly usage: "client" | "server" | "both";
    /** Subject alternative names in openssl's notation; for servers. */
    readonly names?: readonly string[];
}

function kubeletOf({ name, address }: SandboxNode) {
    return {
        commonName: `system:node:${name}`,
        organization: "system:nodes",
        authority: "cluster",
        usage: "both",
        names: [`DNS:${name}`, `IP:${address}`],
    } as const satisfies Certificate;
}

/**
 * The identities of the nodes. Kubernetes' built-in roles are bound to these names (documentation page "PKI
 * certificates and requirements"). etcd has its own authority: a Kubernetes client certificate must not give access to
 * the database.
 */
const certificates = {
    apiserver: {
        commonName: "kube-apiserver",
        authority: "cluster",
        usage: "server",
        names: [
            "DNS:kubernetes",
            "DNS:kubernetes.default",
            "DNS:kubernetes.default.svc",
            `DNS:kubernetes.default.svc.${addresses.clusterDomain}`,
            "DNS:localhost",
            "IP:127.0.0.1",
            `IP:${addresses.apiService}`,
            `IP:${addresses.node}`,
        ],
    },
    "apiserver-kubelet-client": { commonName: "kube-apiserver-kubelet-client", authority: "cluster", usage: "client" },
    admin: { commonName: "admin", organization: "system:masters", authority: "cluster", usage: "client" },
    "controller-manager": { commonName: "system:kube-controller-manager", authority: "cluster", usage: "client" },
    scheduler: { commonName: "system:kube-scheduler", authority: "cluster", usage: "client" },
    proxy: { commonName: "system:kube-proxy", authority: "cluster", usage: "client" },
    "network-policy": { commonName: "sandbox:network-policy", authority: "cluster", usage: "client" },
    "sandbox-controller": { commonName: "sandbox:controller", authority: "cluster", usage: "client" },
    kubelet: kubeletOf(firstNode),
    "kubelet-2": kubeletOf(secondNode),
    etcd: { commonName: "etcd", authority: "etcd", usage: "both", names: ["DNS:localhost", "IP:127.0.0.1"] },
    "apiserver-etcd-client": { commonName: "kube-apiserver", authority: "etcd", usage: "client" },
} as const satisfies Record<string, Certificate>;

export type Identity = keyof typeof certificates;

/** Ten years: a sandbox that is kept must not stop because a certificate expired. */
const validDays = "3650";

export const pki = {
    certificate: (identity: Identity) => join(layout.pki, `${identity}.crt`),
    key: (identity: Identity) => join(layout.pki, `${identity}.key`),
    clusterAuthority: join(layout.pki, "ca-cluster.crt"),
    clusterAuthorityKey: join(layout.pki, "ca-cluster.key"),
    etcdAuthority: join(layout.pki, "ca-etcd.crt"),
    serviceAccountKey: join(layout.pki, "service-account.key"),
    serviceAccountPublicKey: join(layout.pki, "service-account.pub"),
};

/**
 * Creates authorities, certificates and keys, if they are missing or the list above has changed. They are created in a
 * temporary folder that is renamed at the end: an interruption leaves all of them or none.
 */
export async function ensurePki(): Promise<void> {
    const description = JSON.stringify({ certificates, files: pki });
    const marker = join(layout.pki, "description.json");
    if (existsSync(marker) && readFileSync(marker, "utf8") === description) return;
    const draft = `${layout.pki}.new`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    await Promise.all((["cluster", "etcd"] as const).map((authority) => createAuthority(draft, authority)));
    await Promise.all([
        ...Object.entries(certificates).map(([name, certificate]) => createCertificate(draft, name, certificate)),
        createKeyPair(join(draft, "service-account")),
    ]);
    writeFileSync(join(draft, "description.json"), description, { mode: 0o600 });
    rmSync(layout.pki, { recursive: true, force: true });
    renameSync(draft, layout.pki);
}

function createAuthority(folder: string, authority: Certificate["authority"]): Promise<void> {
    const extensions = [
        "basicConstraints = critical,CA:TRUE",
        "keyUsage = critical,keyCertSign,cRLSign,digitalSignature",
        "subjectKeyIdentifier = hash",
    ];
    return openssl(folder, `ca-${authority}`, `/CN=${authority}-ca`, extensions);
}

function createCertificate(folder: string, name: string, certificate: Certificate): Promise<void> {
    const { commonName, organization, authority, usage, names } = certificate;
    const extensions = [
        "basicConstraints = critical,CA:FALSE",
        "keyUsage = critical,digitalSignature",
        `extendedKeyUsage = ${{ client: "clientAuth", server: "serverAuth", both: "clientAuth,serverAuth" }[usage]}`,
        "authorityKeyIdentifier = keyid",
        ...(names ? [`subjectAltName = ${names.join(",")}`] : []),
    ];
    const signer = join(folder, `ca-${authority}`);
    const signature = ["-CA", `${signer}.crt`, "-CAkey", `${signer}.key`];
    return openssl(folder, name, `${organization ? `/O=${organization}` : ""}/CN=${commonName}`, extensions, signature);
}

/** Signs and verifies service account tokens. Needs no certificate. */
async function createKeyPair(path: string): Promise<void> {
    const curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];
    await runCommand("openssl", ["genpkey", ...curve, "-out", `${path}.key`]);
    await runCommand("openssl", ["pkey", "-in", `${path}.key`, "-pubout", "-out", `${path}.pub`]);
}

async function openssl(
    folder: string,
    name: string,
    subject: string,
    extensions: readonly string[],
    signer: readonly string[] = [],
): Promise<void> {
    const path = join(folder, name);
    // Independent of the host's configuration.
    const about = ["-config", "/dev/null", "-subj", subject, ...extensions.flatMap((each) => ["-addext", each])];
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const files = ["-keyout", `${path}.key`, "-out", `${path}.crt`];
    await runCommand("openssl", ["req", "-x509", "-days", validDays, ...about, ...newKey, ...files, ...signer]);
    chmodSync(`${path}.key`, 0o600);
}
