import { Exec, type V1Status } from "@kubernetes/client-node";
import { PassThrough } from "node:stream";
import { type Cluster, messageOf } from "../cluster/client";
import { lacking, problemOf } from "../cluster/problem";
import type { Target } from "../targets/containers";

/** What to try from within a container: a fresh TCP connection, or a DNS lookup. */
export type Question = { connect: { host: string; port: number } } | { lookup: string };

/** Whether it worked, or why it could not be tried. */
export type ProbeResult = { worked: boolean } | { problem: string };

const noTool = 97;
const answerTimeoutMs = 10_000;

/**
 * Tries something from within a running container, with the tools that the container has. Adds nothing to the pod, and
 * leaves nothing: the process ends within seconds. Small tools come first: the process counts towards the container's
 * memory.
 *
 * @param timeoutMs what has not worked by then does not work
 */
export async function probe(
    cluster: Cluster,
    target: Pick<Target, "namespace" | "pod" | "container">,
    question: Question,
    timeoutMs: number,
): Promise<ProbeResult> {
    const [script, ...args] =
        "lookup" in question
            ? ([lookup, question.lookup] as const)
            : ([connect, question.connect.host, String(question.connect.port)] as const);
    const where = `${target.pod}/${target.container}`;
    try {
        const command = ["sh", "-c", script, "probe", String(timeoutMs / 1_000), ...args];
        const exitCode = await run(cluster, target, command);
        if (exitCode !== noTool) return { worked: exitCode === 0 };
        return { problem: `${where} has none of the tools to try it with (bash, nc, python3, perl, node)` };
    } catch (error) {
        return { problem: `nothing can be run in ${where}: ${refusalOf(error, target) ?? problemOf(error)}` };
    }
}

/** A WebSocket's refusal brings its status alone: which right is missing must be known. */
function refusalOf(error: unknown, { namespace }: Pick<Target, "namespace">): string | undefined {
    if (!messageOf(error).endsWith("Unexpected server response: 403")) return undefined;
    return lacking("the account", { verb: "create", named: "pods/exec", namespace });
}

// Each script is called with the timeout in seconds, which may be a fraction, and with what to try. Some versions of
// `timeout` do not accept fractions.
const begin = `
has() { command -v "$1" >/dev/null 2>&1; }
seconds=$1; shift
limited() { timeout "$seconds" "$@"; }
`;

const pythonConnect = [
    "import socket, sys",
    "socket.create_connection((sys.argv[2], int(sys.argv[3])), float(sys.argv[1]))",
].join("; ");
const perlConnect = "exit !IO::Socket::INET->new(PeerAddr => $ARGV[1], PeerPort => $ARGV[2], Timeout => $ARGV[0])";
const nodeConnect = `
const [seconds, host, port] = process.argv.slice(1);
const socket = require("net").connect({ host, port: Number(port), timeout: seconds * 1000 });
socket.on("connect", () => process.exit(0));
for (const event of ["error", "timeout"]) socket.on(event, () => process.exit(1));
`;

const connect = `${begin}
if limited true 2>/dev/null && has bash; then limited bash -c ": </dev/tcp/$1/$2" 2>/dev/null
elif has nc; then nc -z -w 1 "$1" "$2"
elif has python3; then python3 -c '${pythonConnect}' "$seconds" "$1" "$2" 2>/dev/null
elif has perl; then perl -MIO::Socket::INET -e '${perlConnect}' "$seconds" "$1" "$2"
elif has node; then node -e '${nodeConnect}' "$seconds" "$1" "$2"
else exit ${noTool}; fi`;

const pythonLookup = "import socket, sys; socket.gethostbyname(sys.argv[1])";
const nodeLookup = `
const [seconds, name] = process.argv.slice(1);
setTimeout(() => process.exit(1), seconds * 1000);
require("dns").lookup(name, (error) => process.exit(error ? 1 : 0));
`;

const lookup = `${begin}
if limited true 2>/dev/null && has getent; then limited getent hosts "$1" >/dev/null
elif limited true 2>/dev/null && has python3; then limited python3 -c '${pythonLookup}' "$1" 2>/dev/null
elif has node; then node -e '${nodeLookup}' "$seconds" "$1"
else exit ${noTool}; fi`;

/** @returns the exit code @throws Error if the command could not be run */
function run(
    { kubeconfig }: Cluster,
    { namespace, pod, container }: Pick<Target, "namespace" | "pod" | "container">,
    command: string[],
): Promise<number> {
    let giveUp: NodeJS.Timeout;
    const ended = new Promise<number>((resolve, reject) => {
        const onStatus = (status: V1Status) => {
            const code = status.details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
            if (status.status === "Success") resolve(0);
            else if (code !== undefined) resolve(Number(code));
            else reject(new Error(status.message ?? "it was refused"));
        };
        const ignored = new PassThrough().resume();
        // Also keeps the process running: a connection that is closed silently leaves nothing else to wait for.
        giveUp = setTimeout(() => reject(new Error(`no answer within ${answerTimeoutMs} ms`)), answerTimeoutMs);
        new Exec(kubeconfig)
            .exec(namespace, pod, container, command, ignored, ignored, null, false, onStatus)
            .catch(reject);
    });
    return ended.finally(() => clearTimeout(giveUp));
}
