import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb";
import * as language from "@pulumi/pulumi/proto/language_pb";
import * as plugin from "@pulumi/pulumi/proto/plugin_pb";
import { engineAddress, Running, servePlugin, streamed as streaming, unary } from "../plugin";
import { PULUMI_CLI_VERSION } from "../versions";
import { installDependencies, runPlugin } from "./plugin-programs";
import { runProgram } from "./run-program";

const running = new Running();
let engine = engineAddress;

const streamed: typeof streaming = (work) =>
    streaming((request, call, callEnded) => work(request, call, AbortSignal.any([running.ended, callEnded])));

/** The methods of the Node language host that running a program, or a plugin from its sources, needs. */
const handlers = {
    handshake: unary((request: language.LanguageHandshakeRequest) => {
        engine = request.getEngineAddress();
        return new language.LanguageHandshakeResponse();
    }),
    run: unary<language.RunRequest, language.RunResponse>(async (request, call) => {
        const callEnded = new AbortController();
        call.on("cancelled", () => callEnded.abort());
        const cancelled = AbortSignal.any([running.ended, callEnded.signal]);
        const { error, bail } = await running.add(
            runProgram(request, engine, cancelled).catch(({ message }: Error) => ({ error: message, bail: false })),
        );
        return new language.RunResponse().setError(error).setBail(bail);
    }),
    runPlugin: streamed<language.RunPluginRequest>((request, call, cancelled) =>
        running.add(runPlugin(request, call, cancelled)),
    ),
    installDependencies: streamed<language.InstallDependenciesRequest>((request, call, cancelled) =>
        running.add(installDependencies(request, call, cancelled)),
    ),
    // Language hosts report their version with a `v`.
    getPluginInfo: unary(() => new plugin.PluginInfo().setVersion(`v${PULUMI_CLI_VERSION}`)),
    // The engine also learns the version of each provider from the resources that the program registers.
    getRequiredPackages: unary(() => new language.GetRequiredPackagesResponse()),
    about: unary(() => new language.AboutResponse().setExecutable(process.execPath).setVersion(process.version)),
};
servePlugin(LanguageRuntimeService, handlers, running);
