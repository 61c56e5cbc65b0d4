import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { buildSync } from "esbuild";
import { Experiment } from "pulumi-chaos-experiments";

const config = new pulumi.Config();
const inLibrary = { namespace: new k8s.core.v1.Namespace("library", { metadata: { name: "library" } }).metadata.name };

const password = new k8s.core.v1.Secret("database", {
    metadata: { ...inLibrary, name: "database" },
    stringData: { password: config.requireSecret("password") },
});
const database = new k8s.yaml.v2.ConfigFile("database", { file: "database.yaml" }, { dependsOn: password });

// The service and its PostgreSQL client, in one file.
const bundle = buildSync({ entryPoints: ["app.js"], bundle: true, minify: true, platform: "node", write: false });
const files = { "app.js": bundle.outputFiles[0]!.text };
const program = new k8s.core.v1.ConfigMap("books", { metadata: inLibrary, data: files });
const container = {
    name: "books",
    image: "docker.io/library/node:22.23.3-bookworm-slim",
    command: ["node", "/program/app.js"],
    env: [{ name: "CONNECTION_SECONDS", value: config.require("connectionSeconds") }],
    ports: [{ containerPort: 8080 }],
    readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 2 },
    volumeMounts: [
        { name: "program", mountPath: "/program" },
        { name: "password", mountPath: "/password" },
    ],
};
const volumes = [
    { name: "program", configMap: { name: program.metadata.name } },
    { name: "password", secret: { secretName: password.metadata.name } },
];
const labels = { app: "books" };
const template = { metadata: { labels }, spec: { containers: [container], volumes } };
const spec = { replicas: 2, selector: { matchLabels: labels }, template };
const books = new k8s.apps.v1.Deployment("books", { metadata: inLibrary, spec }, { dependsOn: database });
const service = new k8s.core.v1.Service("books", {
    metadata: { ...inLibrary, name: "books" },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
});

// What must become of connections that are open already.
const established = config.require<"any" | "cut">("established");
const experiment = new Experiment(
    "books-without-database",
    {
        enabled: config.requireBoolean("enabled"),
        context: config.get("context"),
        hypothesis: "Books are listed while the database is cut off.",
        namespace: "library",
        attacks: [{ kind: "blackhole", target: "k8s.statefulset=database", established }],
        checks: [{ kind: "http", service: "books", port: 80, path: "/books", timeoutMs: 2_000 }],
        window: { duration: "10s", grace: "5s" },
    },
    { dependsOn: [books, service] },
);
export const verdict = experiment.verdict;
