import { build } from "esbuild";
import { protoPath } from "grpc-health-check";
import { readFileSync } from "node:fs";
import { nodeImage } from "../../sandbox/test/e2e/support";

/**
 * A gRPC server with gRPC's own library and health service. With `DEPENDS_ON`, `HOST:PORT`, `shop.Orders` does not
 * serve while nothing answers there.
 */
const program = `
    import { Server, ServerCredentials } from "@grpc/grpc-js";
    import { HealthImplementation } from "grpc-health-check";
    import { connect } from "node:net";
    const health = new HealthImplementation({ "": "SERVING", "shop.Orders": "SERVING" });
    const server = new Server();
    health.addToServer(server);
    server.bindAsync("[::]:9090", ServerCredentials.createInsecure(), (error) => { if (error) throw error; });
    process.on("SIGTERM", () => process.exit());
    const [host, port] = (process.env.DEPENDS_ON ?? "").split(":");
    if (host !== "") setInterval(() => {
        const socket = connect(Number(port), host).setTimeout(500);
        const note = (status) => () => { health.setStatus("shop.Orders", status); socket.destroy(); };
        socket.on("connect", note("SERVING")).on("error", note("NOT_SERVING")).on("timeout", note("NOT_SERVING"));
    }, 250);`;

/** The library reads the protocol's file at this place beside the program's. */
const files = { "server.js": "build/src/server.js", "health.proto": "proto/health/v1/health.proto" };

/** Asks the health of a Service's server as a check of an update in this pod does, and prints the answer. */
const probing = (service: string) => `
    import { readFileSync } from "node:fs";
    import { connect } from "../../chaos/cluster/client";
    import { Endpoints } from "../../chaos/kinds/checks/endpoints";
    import { grpc } from "../../chaos/kinds/checks/grpc";
    const defaultNamespace = readFileSync("/var/run/secrets/kubernetes.io/serviceaccount/namespace", "utf8");
    const cluster = connect({});
    const endpoints = new Endpoints(cluster, defaultNamespace);
    grpc.probe({ kind: "grpc", service: ${JSON.stringify(service)} }, { cluster, endpoints, defaultNamespace }, 2000)
        .then((answer) => console.log(JSON.stringify({ ...answer, routes: endpoints.routes })));`;

async function bundled(contents: string): Promise<string> {
    const stdin = { contents, resolveDir: __dirname };
    const { outputFiles } = await build({ stdin, bundle: true, minify: true, platform: "node", write: false });
    return outputFiles[0]!.text;
}

/** A ConfigMap with the program. It is too long for a pod's arguments. */
export const grpcProgram = async () => ({
    metadata: { name: "grpc-server" },
    data: { "server.js": await bundled(program), "health.proto": readFileSync(protoPath, "utf8") },
});

/** A pod whose account may read Services, and what it needs. It asks the health of a Service's server. */
export async function grpcProber(service: string) {
    const metadata = { name: "prober" };
    const rules = [{ apiGroups: [""], resources: ["services"], verbs: ["get"] }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: metadata.name };
    const container = {
        name: "prober",
        image: nodeImage,
        command: ["node", "/app/prober.js"],
        volumeMounts: [{ name: "app", mountPath: "/app" }],
    };
    const spec = {
        serviceAccountName: metadata.name,
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 0,
        containers: [container],
        volumes: [{ name: "app", configMap: { name: metadata.name } }],
    };
    return [
        { apiVersion: "v1", kind: "ServiceAccount", metadata },
        { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules },
        {
            ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata, roleRef },
            subjects: [{ kind: "ServiceAccount", name: metadata.name }],
        },
        { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "prober.js": await bundled(probing(service)) } },
        { apiVersion: "v1", kind: "Pod", metadata, spec },
    ];
}

/** A Deployment of one such server. The kubelet asks its health, too. @param dependsOn see `program` */
export function grpcDeployment(name: string, dependsOn?: string) {
    const labels = { app: name };
    const container = {
        name: "server",
        image: nodeImage,
        command: ["node", "/app/build/src/server.js"],
        env: [{ name: "DEPENDS_ON", value: dependsOn ?? "" }],
        ports: [{ containerPort: 9090 }],
        readinessProbe: { grpc: { port: 9090 }, periodSeconds: 1 },
        volumeMounts: [{ name: "app", mountPath: "/app" }],
    };
    const items = Object.entries(files).map(([key, path]) => ({ key, path }));
    return {
        metadata: { name },
        spec: {
            selector: { matchLabels: labels },
            template: {
                metadata: { labels },
                spec: {
                    terminationGracePeriodSeconds: 0,
                    containers: [container],
                    volumes: [{ name: "app", configMap: { name: "grpc-server", items } }],
                },
            },
        },
    };
}

/** A Service that leads to it. */
export const grpcService = (name: string, app: string, type: "ClusterIP" | "LoadBalancer" | "NodePort") => ({
    metadata: { name },
    spec: { type, selector: { app }, ports: [{ port: 9090 }] },
});
