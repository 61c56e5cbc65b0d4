import * as grpc from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { complete, engineAddressFrom, servePlugin } from "../plugin";
import { onlyInOfficialProvider } from "./inputs";
import { CommandProvider } from "./service";

const engineAddress = engineAddressFrom(process.argv.slice(2));
const engine = engineAddress && new EngineClient(engineAddress, grpc.credentials.createInsecure());

/** Shows a line of a resource in the engine's display, while it is updated. */
async function show(urn: string, line: string): Promise<void> {
    if (!engine) return;
    const request = new LogRequest()
        .setSeverity(LogSeverity.INFO)
        .setMessage(line)
        .setUrn(urn)
        // The resource's status line; not repeated at the end of the update.
        .setEphemeral(true);
    // An engine that is gone shows nothing; the caller reports the command's failure.
    await new Promise<void>((resolve) => engine.log(request, () => resolve()));
}

const provider = new CommandProvider(show);
servePlugin(
    ResourceProviderService,
    complete(ResourceProviderService, provider.handlers(), onlyInOfficialProvider),
    () => provider.stop(),
);
