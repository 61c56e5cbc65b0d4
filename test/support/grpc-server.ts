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

/** A ConfigMap with the program. It is too long for a pod's arguments. */
export async function grpcProgram(): Promise<{ metadata: { name: string }; data: Record<string, string> }> {
    const { outputFiles } = await build({
        stdin: { contents: program, resolveDir: __dirname },
        bundle: true,
        minify: true,
        platform: "node",
        write: false,
    });
    const data = { "server.js": outputFiles[0]!.text, "health.proto": readFileSync(protoPath, "utf8") };
    return { metadata: { name: "grpc-server" }, data };
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
