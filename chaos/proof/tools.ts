/** What a connection or a lookup is tried with from within a container: only what the container has. */

import { isIP } from "node:net";
import { basename } from "node:path";

/** What to try from within a container: a fresh TCP connection, or a DNS lookup, or one that prints all addresses. */
export type Question = { connect: { host: string; port: number } } | { lookup: string } | { resolve: string };

export type QuestionKind = "connect" | "lookup" | "resolve";

/** Exit code of a shell that finds no tool. */
export const noTool = 97;

interface Tool {
    name: string;
    /** Whether the shell has it. */
    there: string;
    /** Is given what to try as `$1`, and a port as `$2`. */
    use: string;
}

const pythonConnect = [
    "import socket, sys",
    "socket.create_connection((sys.argv[2], int(sys.argv[3])), float(sys.argv[1]))",
].join("; ");
const perlConnect = "exit !IO::Socket::IP->new(PeerAddr => $ARGV[1], PeerPort => $ARGV[2], Timeout => $ARGV[0])";
const nodeConnect = `
const [seconds, host, port] = process.argv.slice(1);
const socket = require("net").connect({ host, port: Number(port), timeout: seconds * 1000 });
socket.on("connect", () => process.exit(0));
for (const event of ["error", "timeout"]) socket.on(event, () => process.exit(1));
`;
// The alarm ends the process: a lookup has no time limit of its own.
const pythonLookup = [
    "import signal, socket, sys",
    "signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))",
    "print(*(found[4][0] for found in socket.getaddrinfo(sys.argv[2], None, 0, socket.SOCK_STREAM)))",
].join("; ");
const nodeLookup = `
const [seconds, name] = process.argv.slice(1);
setTimeout(() => process.exit(1), seconds * 1000);
require("dns").lookup(name, { all: true }, (error, found = []) => {
    process.stdout.write(found.map(({ address }) => address).join(" "), () => process.exit(error ? 1 : 0));
});
`;

const has = (name: string) => `has ${name}`;
// Some versions of `timeout` do not accept fractions of a second.
const hasLimited = (name: string) => `limited true 2>/dev/null && has ${name}`;

/** Small tools come first: the process counts towards the container's memory. */
const shellTools: Record<QuestionKind, readonly Tool[]> = {
    connect: [
        { name: "bash", there: hasLimited("bash"), use: `limited bash -c ": </dev/tcp/$1/$2" 2>/dev/null` },
        { name: "nc", there: has("nc"), use: 'nc -z -w 1 "$1" "$2"' },
        {
            name: "python3",
            there: has("python3"),
            use: `python3 -c '${pythonConnect}' "$seconds" "$1" "$2" 2>/dev/null`,
        },
        { name: "perl", there: has("perl"), use: `perl -MIO::Socket::IP -e '${perlConnect}' "$seconds" "$1" "$2"` },
        { name: "node", there: has("node"), use: `node -e '${nodeConnect}' "$seconds" "$1" "$2"` },
    ],
    lookup: [
        { name: "getent", there: hasLimited("getent"), use: 'limited getent hosts "$1" >/dev/null' },
        { name: "python3", there: has("python3"), use: `python3 -c '${pythonLookup}' "$seconds" "$1" 2>/dev/null` },
        { name: "node", there: has("node"), use: `node -e '${nodeLookup}' "$seconds" "$1"` },
    ],
    resolve: [
        // Not `hosts`, which prints one family, and with musl one address.
        { name: "getent", there: hasLimited("getent"), use: 'limited getent ahosts "$1"' },
        { name: "python3", there: has("python3"), use: `python3 -c '${pythonLookup}' "$seconds" "$1" 2>/dev/null` },
        { name: "node", there: has("node"), use: `node -e '${nodeLookup}' "$seconds" "$1"` },
    ],
};

/** For people: `bash, nc, python3, perl, node`. */
export const toolNames = (kinds: readonly QuestionKind[]) =>
    kinds.map((kind) => shellTools[kind].map(({ name }) => name).join(", ")).join("; to look up names ");

/** Programs of images without a shell, by their paths: those of distroless images among them. */
export const shellLessPrograms = ["node", "/nodejs/bin/node", "python3"] as const;

/** By the name of the program. */
const interpreters: Record<string, Record<QuestionKind | "flag", string>> = {
    node: { flag: "-e", connect: nodeConnect, lookup: nodeLookup, resolve: nodeLookup },
    python3: { flag: "-c", connect: pythonConnect, lookup: pythonLookup, resolve: pythonLookup },
};

/** A shell script of one tool: the first that is there. It gets the timeout in seconds, then what to try. */
const script = (kind: QuestionKind, of: (tool: Tool) => string) => `
has() { command -v "$1" >/dev/null 2>&1; }
seconds=$1; shift
limited() { timeout "$seconds" "$@"; }
${shellTools[kind].map((tool) => `if ${tool.there}; then ${of(tool)}`).join("\nel")}
else exit ${noTool}; fi`;

/**
 * The command that tries something.
 *
 * @param program run without a shell. @default the first tool that the container's shell finds
 */
export function commandFor(question: Question, timeoutMs: number, program?: string): string[] {
    const seconds = String(timeoutMs / 1_000);
    const kind = kindOf(question);
    const what =
        "connect" in question ? [question.connect.host, String(question.connect.port)] : Object.values(question);
    if (program === undefined) return ["sh", "-c", script(kind, ({ use }) => use), "probe", seconds, ...what];
    const { flag, [kind]: code } = interpreters[basename(program)]!;
    return [program, flag, code, seconds, ...what];
}

export const kindOf = (question: Question) => Object.keys(question)[0] as QuestionKind;

/** The command that succeeds if the container has a tool for each. A shell that lacks one exits with `noTool`. */
export function searchFor(kinds: readonly QuestionKind[], program?: string): string[] {
    const scripts = kinds.map((kind) => script(kind, () => ":"));
    if (program !== undefined) return [program, "--version"];
    return ["sh", "-c", scripts.join("\nset -- 1"), "probe", "1"];
}

/** The addresses that the answer to `resolve` has, each once. */
export const addressesIn = (output: string): string[] =>
    [
        // A family may be mapped to the other: `::ffff:203.0.113.7`.
        ...new Set(output.split(/\s+/).map((word) => word.replace(/^::ffff:(?=\d+\.)/i, ""))),
    ]
        .filter((word) => isIP(word) > 0 && !word.includes("%"))
        .sort();
