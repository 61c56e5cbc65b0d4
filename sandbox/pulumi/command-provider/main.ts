import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { complete, engineAddressFrom, servePlugin } from "../plugin";
import { EngineLog } from "./engine-log";
import { CommandProvider } from "./service";
import { COMMAND_VERSION } from "./tokens";

const provider = new CommandProvider(new EngineLog(engineAddressFrom(process.argv.slice(2))));
const handlers = complete(
    ResourceProviderService,
    provider.handlers(),
    (method) => `${method} is not part of the command provider ${COMMAND_VERSION}`,
);
servePlugin(ResourceProviderService, handlers, () => provider.stop());
