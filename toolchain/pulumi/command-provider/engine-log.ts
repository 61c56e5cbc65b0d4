import * as grpc from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

/** Shows a resource's lines in the engine's display while it is updated. */
export class EngineLog {
    #client: EngineClient | undefined;

    constructor(engineAddress: string | undefined) {
        this.connect(engineAddress);
    }

    /** Sends all further lines to this engine; without an address they are discarded. */
    connect(engineAddress: string | undefined): void {
        this.#client?.close();
        this.#client = engineAddress ? new EngineClient(engineAddress, grpc.credentials.createInsecure()) : undefined;
    }

    /**
     * A log of one resource.
     *
     * @param urn the resource; empty for a function call.
     */
    of(urn: string): { readonly line: (text: string) => void; readonly flushed: () => Promise<void> } {
        // In order: the engine shows lines as they arrive.
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
            // The resource's status line; not repeated at the end of the update.
            .setEphemeral(true);
        // An engine that is gone shows nothing; the caller reports the command's failure.
        return new Promise((resolve) => client.log(request, () => resolve()));
    }
}
