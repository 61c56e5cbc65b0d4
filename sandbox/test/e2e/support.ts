import { join } from "node:path";
import { tryCommand } from "../../../toolchain/run-command";
import { imageNode } from "../../parts/image-recipes";
import { locateParts } from "../../parts/locate";
import { layout } from "../../node/layout";

/** The image of the test pods; the sandbox brings it along. */
export const nodeImage = imageNode.references[0]!;

/** Runs kubectl against the sandbox. @throws with what it printed if it fails. */
export async function kubectl(args: string[], input?: object): Promise<string> {
    const program = join(locateParts().kubectlFolder, "kubectl");
    const { code, stdout, stderr } = await tryCommand(program, ["--kubeconfig", layout.kubeconfig, ...args], {
        input: input && JSON.stringify(input),
    });
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr.trim()}`);
    return stdout.trim();
}

/** Creates or updates objects in a namespace. */
export async function apply(namespace: string, ...items: object[]): Promise<void> {
    await kubectl(["-n", namespace, "apply", "-f", "-"], { apiVersion: "v1", kind: "List", items });
}

/**
 * A namespace for one test file.
 *
 * @param level the Pod Security level that is enforced. @default `restricted`, like the shop's
 */
export async function createNamespace(
    name: string,
    level: "restricted" | "privileged" = "restricted",
): Promise<() => Promise<unknown>> {
    const labels = { "pod-security.kubernetes.io/enforce": level };
    const remove = () => kubectl(["delete", "namespace", name, "--ignore-not-found", "--timeout=60s"]);
    await remove();
    await kubectl(["create", "-f", "-"], { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
    return remove;
}

/** A pod that answers HTTP on port 8080 with its name, admitted under `restricted`. */
export function webPod(name: string, more: object = {}): object {
    const program = `require("http").createServer((_, answer) => answer.end(${JSON.stringify(name)})).listen(8080);`;
    return nodePod(name, program, more);
}

/**
 * A pod that runs a Node program, admitted under `restricted`.
 *
 * @param more of its spec
 * @param container at which port it listens once it is ready, and what it declares
 */
export function nodePod(
    name: string,
    program: string,
    more: object = {},
    { port = 8080, ...about }: { port?: number; ports?: object[] } = {},
): object {
    return {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, labels: { app: name } },
        spec: {
            securityContext: {
                runAsNonRoot: true,
                runAsUser: 1000,
                fsGroup: 1000,
                seccompProfile: { type: "RuntimeDefault" },
            },
            containers: [
                {
                    name: "web",
                    image: nodeImage,
                    command: ["node", "-e", `process.on("SIGTERM", () => process.exit());\n${program}`],
                    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
                    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
                    ...about,
                },
            ],
            ...more,
        },
    };
}

/** Waits until a pod is ready. */
export async function ready(namespace: string, ...pods: string[]): Promise<void> {
    await kubectl([
        "-n",
        namespace,
        "wait",
        "--for=condition=Ready",
        "--timeout=60s",
        ...pods.map((pod) => `pod/${pod}`),
    ]);
}

/** Runs a Node program in a pod. @returns what it printed, or the message of its failure. */
export function runInPod(namespace: string, pod: string, program: string): Promise<string> {
    return kubectl(["-n", namespace, "exec", pod, "--", "node", "-e", program]).catch((error: Error) => error.message);
}

/** Asks a URL from inside a pod over a fresh connection. @returns the body, or the error's code. */
export function askFromPod(namespace: string, pod: string, url: string): Promise<string> {
    const program = `
        const call = require("http").get(${JSON.stringify(url)}, { agent: false, timeout: 2000 }, (answer) => {
            answer.setEncoding("utf8").on("data", (text) => process.stdout.write(text));
        });
        call.on("timeout", () => call.destroy(Object.assign(new Error(), { code: "TIMEOUT" })));
        call.on("error", (error) => process.stdout.write(error.code));`;
    return runInPod(namespace, pod, program);
}

/**
 * Tries until `probe` gives what is wanted.
 *
 * @returns after how many seconds the last try began
 * @throws with the last outcome when the time is over.
 */
export async function eventually<T>(
    probe: () => Promise<T>,
    wanted: (value: T) => boolean,
    timeoutSeconds = 20,
): Promise<number> {
    const startedMs = Date.now();
    for (;;) {
        const triedMs = Date.now();
        const value = await probe();
        if (wanted(value)) return (triedMs - startedMs) / 1000;
        if (Date.now() - startedMs > timeoutSeconds * 1000) {
            throw new Error(`still ${JSON.stringify(value)} after ${timeoutSeconds} s`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}
