import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { complete, engineAddressFrom, servePlugin } from "../plugin";
import { COMMAND_PROVIDER_VERSION } from "../versions";
import { EngineLog } from "./engine-log";
import { CommandProvider } from "./service";

const provider = new CommandProvider(new EngineLog(engineAddressFrom(process.argv.slice(2))));
const handlers = complete(
    ResourceProviderService,
    provider.handlers(),
    (method) => `${method} is not part of the command provider ${COMMAND_PROVIDER_VERSION}`,
);
servePlugin(ResourceProviderService, handlers, () => provider.stop());
