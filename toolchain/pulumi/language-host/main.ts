import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb";
import { complete, engineAddressFrom, servePlugin } from "../plugin";
import { LanguageHost, HOST_VERSION } from "./service";

const args = process.argv.slice(2);

if (args.includes("--version") || args.includes("-version")) {
    console.log(HOST_VERSION);
} else {
    const host = new LanguageHost(engineAddressFrom(args));
    const handlers = complete(
        LanguageRuntimeService,
        host.handlers(),
        (method) =>
            `${method} is not part of this stand-in for pulumi-language-nodejs ${HOST_VERSION}; ` +
            "it is in the official Pulumi release, which npx pulumi downloads if the network allows it",
    );
    servePlugin(LanguageRuntimeService, handlers, () => host.stop());
}
