import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** `kubectl proxy`, through which the API server asks a Service: on one node, from the node of its pods. */
export class ApiProxy {
    private constructor(
        private readonly child: ChildProcess,
        private readonly address: string,
    ) {}

    static async start(context: string): Promise<ApiProxy> {
        const child = spawn("kubectl", ["--context", context, "proxy", "--port", "0"], {
            stdio: ["ignore", "pipe", "inherit"],
        });
        for await (const line of createInterface(child.stdout)) {
            const address = /127\.0\.0\.1:\d+/.exec(line)?.[0];
            if (address) return new ApiProxy(child, `http://${address}`);
        }
        throw new Error("kubectl proxy ended before it served");
    }

    urlOf(service: string, namespace: string): string {
        return `${this.address}/api/v1/namespaces/${namespace}/services/${service}:80/proxy`;
    }

    stop(): void {
        this.child.kill();
    }
}
