import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A repository on this machine that holds a small chart with the vendor's contract, and manifests. */
export interface VendorRepository {
    url: string;
    /** Serves a text at a path; returns its URL. */
    publish(path: string, text: string): string;
    /** Writes a file of this name; returns its path. */
    keep(name: string, text: string): string;
    close(): void;
}

export const chartName = "small-agent";

const nodeImage = "docker.io/library/node:20.20.2-bookworm-slim";

const labels = "app: small-agent";

/** As the vendor's: the key in a Secret, the cluster's name in the environment. */
const chartFiles: Record<string, string> = {
    "Chart.yaml": `apiVersion: v2\nname: ${chartName}\nversion: 1.0.0\n`,
    "values.yaml": `image: ${nodeImage}\nagent: {}\ncluster: {}\nglobal: {}\n`,
    "templates/secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-key
stringData:
  key: {{ required "agent.key is required" .Values.agent.key | quote }}
`,
    "templates/daemonset.yaml": daemonSet({
        name: "{{ .Release.Name }}",
        image: "{{ .Values.image }}",
        env: `
            - name: CLUSTER_NAME
              value: {{ .Values.cluster.name | quote }}
            - name: GLOBAL_CLUSTER_NAME
              value: {{ .Values.global.clusterName | quote }}
            - name: AGENT_KEY
              valueFrom: { secretKeyRef: { name: "{{ .Release.Name }}-key", key: key } }`,
    }),
};

interface ManifestOptions {
    /** @default one that the node has */
    image?: string;
    /** Brought by the manifest. @default none */
    namespace?: string;
}

/** A manifest as a platform's setup page gives it: with the key in it, here the placeholder. */
export function manifest(name: string, { image = nodeImage, namespace }: ManifestOptions = {}): string {
    const brought = namespace === undefined ? "" : `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${namespace}\n  labels: { of: small-agent }\n---\n`;
    const secret = `apiVersion: v1\nkind: Secret\nmetadata:\n  name: "${name}-key"\nstringData:\n  key: "<AGENT_KEY>"\n---\n`;
    return brought + secret + daemonSet({
        name,
        namespace,
        image,
        env: `
            - name: AGENT_KEY
              value: "<AGENT_KEY>"
            - name: CLUSTER_NAME
              value: "<cluster_name>"`,
    });
}

function daemonSet({ name, namespace, image, env }: { name: string; namespace?: string; image: string; env: string }): string {
    return `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: "${name}"${namespace === undefined ? "" : `\n  namespace: ${namespace}`}
spec:
  selector: { matchLabels: { ${labels} } }
  template:
    metadata: { labels: { ${labels} } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: agent
          image: "${image}"
          command: [node, -e, "setInterval(() => {}, 1000)"]
          env:${env}
`;
}

export async function vendorRepository(): Promise<VendorRepository> {
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-vendor-"));
    const served = new Map<string, Buffer>();
    const server = createServer(({ url }, response) => {
        const body = served.get(url!);
        response.writeHead(body ? 200 : 404).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    for (const [file, text] of Object.entries(chartFiles)) {
        const path = join(folder, chartName, file);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
    }
    execFileSync("tar", ["-czf", "chart.tgz", chartName], { cwd: folder });
    const packed = readFileSync(join(folder, "chart.tgz"));
    served.set("/chart.tgz", packed);
    const entry = { name: chartName, version: "1.0.0", apiVersion: "v2", urls: [`${url}/chart.tgz`], digest: createHash("sha256").update(packed).digest("hex") };
    served.set("/index.yaml", Buffer.from(JSON.stringify({ apiVersion: "v1", entries: { [chartName]: [entry] } })));
    return {
        url,
        publish(path, text) {
            served.set(path, Buffer.from(text));
            return url + path;
        },
        keep(name, text) {
            writeFileSync(join(folder, name), text);
            return join(folder, name);
        },
        close() {
            server.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
