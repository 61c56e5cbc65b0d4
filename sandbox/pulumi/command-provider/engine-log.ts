import * as grpc from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

/** Shows lines at a resource while it is being worked on, in the engine's order. */
export class EngineLog {
    #client: EngineClient | undefined;

    constructor(engineAddress: string | undefined) {
        this.connect(engineAddress);
    }

    /** Sends what follows to this engine; without an address it goes nowhere. */
    connect(engineAddress: string | undefined): void {
        this.#client?.close();
        this.#client = engineAddress ? new EngineClient(engineAddress, grpc.credentials.createInsecure()) : undefined;
    }

    /**
     * A log of one resource.
     *
     * @param urn the resource; empty for a function's call.
     */
    of(urn: string): { readonly line: (text: string) => void; readonly flushed: () => Promise<void> } {
        // One line after the other: the engine shows them as they arrive.
        let sent: Promise<void> = Promise.resolve();
        const line = (text: string) => {
            sent = sent.then(() => this.#send(urn, text));
        };
        return { line, flushed: () => sent };
    }

    #send(urn: string, text: string): Promise<void> {
        const client = this.#client;
        if (!client) {
            return Promise.resolve();
        }
        const request = new LogRequest()
            .setSeverity(LogSeverity.INFO)
            .setMessage(text)
            .setUrn(urn)
            // An ephemeral message is the resource's status line; it is not kept for the end of the update.
            .setEphemeral(true);
        // An engine that has gone shows nothing; the command's end is reported where it is awaited.
        return new Promise((resolve) => client.log(request, () => resolve()));
    }
}
