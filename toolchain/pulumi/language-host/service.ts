import type * as grpc from "@grpc/grpc-js";
import * as language from "@pulumi/pulumi/proto/language_pb";
import * as plugin from "@pulumi/pulumi/proto/plugin_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { unary } from "../plugin";
import { PULUMI_CLI_VERSION } from "../versions";
import { requiredPackages } from "./packages";
import { runProgram, type RunResult } from "./program";

/** Language hosts report their version with a `v`. */
export const HOST_VERSION = `v${PULUMI_CLI_VERSION}`;

/** The Node language host's service: the engine calls it to run a program, and to describe it. */
export class LanguageHost {
    readonly #stopping = new AbortController();
    readonly #runs = new Set<Promise<RunResult>>();
    #engineAddress: string | undefined;

    constructor(engineAddress: string | undefined) {
        this.#engineAddress = engineAddress;
    }

    /** Interrupts the running programs and resolves when they have ended. */
    async stop(): Promise<void> {
        this.#stopping.abort();
        await Promise.allSettled(this.#runs);
    }

    /** The handlers of the LanguageRuntime methods that a program needs. */
    handlers(): grpc.UntypedServiceImplementation {
        return {
            handshake: unary((request: language.LanguageHandshakeRequest) => {
                this.#engineAddress = request.getEngineAddress();
                return new language.LanguageHandshakeResponse();
            }),
            run: unary((request: language.RunRequest, call) => this.#run(request, call)),
            cancel: unary(() => {
                this.#stopping.abort();
                return new Empty();
            }),
            getPluginInfo: unary(() => new plugin.PluginInfo().setVersion(HOST_VERSION)),
            getRequiredPackages: unary(getRequiredPackages),
            about: unary(() =>
                new language.AboutResponse().setExecutable(process.execPath).setVersion(process.version),
            ),
        };
    }

    async #run(
        request: language.RunRequest,
        call: grpc.ServerUnaryCall<language.RunRequest, language.RunResponse>,
    ): Promise<language.RunResponse> {
        const callEnded = new AbortController();
        call.on("cancelled", () => callEnded.abort());
        const cancelled = AbortSignal.any([this.#stopping.signal, callEnded.signal]);
        const run = runProgram(request, this.#engineAddress, cancelled).catch((error: Error) => ({
            error: error.message,
            bail: false,
        }));
        this.#runs.add(run);
        const { error, bail } = await run.finally(() => this.#runs.delete(run));
        return new language.RunResponse().setError(error).setBail(bail);
    }
}

function getRequiredPackages(request: language.GetRequiredPackagesRequest): language.GetRequiredPackagesResponse {
    const packages = requiredPackages(request.getInfo()?.getProgramDirectory() || process.cwd()).map((needed) => {
        const dependency = new plugin.PackageDependency()
            .setName(needed.name)
            .setKind("resource")
            .setVersion(needed.version)
            .setServer(needed.server);
        if (needed.parameterization) {
            const { name, version, value } = needed.parameterization;
            dependency.setParameterization(
                new plugin.PackageParameterization().setName(name).setVersion(version).setValue(value),
            );
        }
        return dependency;
    });
    return new language.GetRequiredPackagesResponse().setPackagesList(packages);
}
