import { Exec, type V1Status } from "@kubernetes/client-node";
import { PassThrough } from "node:stream";
import type { Target } from "../shared/containers";
import type { Cluster } from "../shared/kubernetes";

/** Something to try from within a container: a fresh TCP connection, or the look-up of a name. */
export type Question = { connect: { host: string; port: number } } | { lookup: string };

/** Whether it worked; or why it could not be tried. */
export type ProbeResult = { worked: boolean } | { problem: string };

const noTool = 97;

/**
 * Tries something from within a running container, by what the container has to try it with. Nothing is added to the
 * pod, and nothing stays: a process that ends within seconds. Small tools come first, since the process counts towards
 * the container's memory.
 *
 * @param patienceMs what has not worked by then does not work
 */
export async function probe(
    cluster: Cluster,
    { namespace, pod, container }: Target,
    question: Question,
    patienceMs: number,
): Promise<ProbeResult> {
    const [script, ...args] =
        "lookup" in question
            ? [lookUp, question.lookup]
            : [connect, question.connect.host, String(question.connect.port)];
    const where = `${pod}/${container}`;
    try {
        const exitCode = await run(cluster, namespace, pod, container, [
            "sh",
            "-c",
            script!,
            "probe",
            String(patienceMs / 1_000),
            ...args,
        ]);
        if (exitCode === noTool)
            return { problem: `${where} has nothing to try it with (bash, nc, python3, perl or node)` };
        return { worked: exitCode === 0 };
    } catch (error) {
        return { problem: `nothing can be run in ${where}: ${(error as Error).message}` };
    }
}

// Each is called with the patience in seconds, which may be a fraction, and what to try. Some `timeout`s take none.
const begin = `
has() { command -v "$1" >/dev/null 2>&1; }
patience=$1; shift
limited() { timeout "$patience" "$@"; }
`;

const connect = `${begin}
if limited true 2>/dev/null && has bash; then limited bash -c ": </dev/tcp/$1/$2" 2>/dev/null
elif has nc; then nc -z -w 1 "$1" "$2"
elif has python3; then python3 -c 'import socket, sys; socket.create_connection((sys.argv[2], int(sys.argv[3])), float(sys.argv[1]))' "$patience" "$1" "$2" 2>/dev/null
elif has perl; then perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new(PeerAddr => $ARGV[1], PeerPort => $ARGV[2], Timeout => $ARGV[0])' "$patience" "$1" "$2"
elif has node; then node -e 'const [patience, host, port] = process.argv.slice(1); require("net").connect({ host, port: Number(port), timeout: patience * 1000 }).on("connect", () => process.exit(0)).on("error", () => process.exit(1)).on("timeout", () => process.exit(1))' "$patience" "$1" "$2"
else exit ${noTool}; fi`;

const lookUp = `${begin}
if limited true 2>/dev/null && has getent; then limited getent hosts "$1" >/dev/null
elif limited true 2>/dev/null && has python3; then limited python3 -c 'import socket, sys; socket.gethostbyname(sys.argv[1])' "$1" 2>/dev/null
elif has node; then node -e 'const [patience, name] = process.argv.slice(1); setTimeout(() => process.exit(1), patience * 1000); require("dns").lookup(name, (error) => process.exit(error ? 1 : 0))' "$patience" "$1"
else exit ${noTool}; fi`;

/** @returns the exit code @throws Error where the command could not be run */
function run(
    { kubeconfig }: Cluster,
    namespace: string,
    pod: string,
    container: string,
    command: string[],
): Promise<number> {
    let giveUp: NodeJS.Timeout;
    const ended = new Promise<number>((resolve, reject) => {
        const told = (status: V1Status) => {
            const code = status.details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
            if (status.status === "Success") resolve(0);
            else if (code !== undefined) resolve(Number(code));
            else reject(new Error(status.message ?? "it was refused"));
        };
        const ignored = new PassThrough().resume();
        // Keeps the process: a connection that is closed without a word leaves nothing else to wait for.
        giveUp = setTimeout(() => reject(new Error("no answer within 10 s")), 10_000);
        new Exec(kubeconfig)
            .exec(namespace, pod, container, command, ignored, ignored, null, false, told)
            .catch(reject);
    });
    return ended.finally(() => clearTimeout(giveUp));
}
