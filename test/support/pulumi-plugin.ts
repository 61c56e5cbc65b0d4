import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { installStandIns } from "../../toolchain/pulumi/stand-ins";

/** A stand-in that runs as the engine runs it: its own process, an open standard input, a port on standard output. */
export interface RunningPlugin {
    readonly process: ChildProcess;
    readonly address: string;
    /** Resolves with the exit code, null if a signal ended it. */
    readonly ended: Promise<number | null>;
    /** What it has written to standard error. */
    readonly complaints: () => string;
}

/** An empty folder that is gone after the tests. */
export function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
    const path = mkdtempSync(join(tmpdir(), "chaos-shop-test-"));
    return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Pulumi's home with the stand-ins in it, and nothing else. */
export async function homeWithStandIns(folder: string): Promise<{ languageHost: string; commandProvider: string }> {
    await installStandIns(folder);
    return {
        languageHost: join(folder, "versions", "3.232.0", "bin", "pulumi-language-nodejs"),
        commandProvider: join(folder, "plugins", "resource-command-v1.2.1", "pulumi-resource-command"),
    };
}

export async function startPlugin(file: string, engineAddress: string, cwd?: string): Promise<RunningPlugin> {
    const child = spawn(file, [engineAddress], { stdio: ["pipe", "pipe", "pipe"], cwd });
    const complaints: Buffer[] = [];
    child.stderr.on("data", (text: Buffer) => complaints.push(text));
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const port = await new Promise<string>((resolve, reject) => {
        child.stdout.once("data", (text: Buffer) => resolve(text.toString().trim()));
        child.once("error", reject);
    });
    return {
        process: child,
        address: `127.0.0.1:${port}`,
        ended,
        complaints: () => Buffer.concat(complaints).toString(),
    };
}

/** Answers a unary call. */
export const answer =
    <Request, Response>(respond: (request: Request) => Response) =>
    ({ request }: { request: Request }, callback: grpc.sendUnaryData<Response>) =>
        callback(null, respond(request));

/** Serves what an engine would, on a free port. */
export async function serve(
    ...services: [grpc.ServiceDefinition, grpc.UntypedServiceImplementation][]
): Promise<{ readonly address: string; readonly close: () => void }> {
    const server = new grpc.Server();
    services.forEach(([service, handlers]) => server.addService(service, handlers));
    const port = await new Promise<number>((resolve, reject) =>
        server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
            error ? reject(error) : resolve(bound),
        ),
    );
    return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

/** Calls one unary method of a gRPC client. */
export function call<Response>(client: grpc.Client, method: string, request: unknown): Promise<Response> {
    const methods = client as unknown as Record<
        string,
        (request: unknown, callback: (error: grpc.ServiceError | null, response: Response) => void) => void
    >;
    return new Promise((resolve, reject) =>
        methods[method]!.call(client, request, (error, response) => (error ? reject(error) : resolve(response))),
    );
}
