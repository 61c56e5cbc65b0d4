import { dirname } from "node:path";
import { settings } from "../../../components/configuration/settings";
import { Repository } from "../repository";

export const chartName = "small-agent";

const nodeImage = settings["images.node"].default;

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
    const brought =
        namespace === undefined
            ? ""
            : `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${namespace}\n  labels: { of: small-agent }\n---\n`;
    const metadata = `metadata:\n  name: "${name}-key"\n`;
    const secret = `apiVersion: v1\nkind: Secret\n${metadata}stringData:\n  key: "<AGENT_KEY>"\n---\n`;
    return (
        brought +
        secret +
        daemonSet({
            name,
            namespace,
            image,
            env: `
            - name: AGENT_KEY
              value: "<AGENT_KEY>"
            - name: CLUSTER_NAME
              value: "<cluster_name>"`,
        })
    );
}

function daemonSet({
    name,
    namespace,
    image,
    env,
}: {
    name: string;
    namespace?: string;
    image: string;
    env: string;
}): string {
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

/** A repository that holds a small chart with the vendor's contract. */
export async function vendorRepository(): Promise<Repository> {
    const repository = await Repository.open();
    const files = Object.entries(chartFiles).map(([file, text]) => repository.keep(`${chartName}/${file}`, text));
    repository.addChart(dirname(files[0]!));
    return repository;
}
