import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type * as grpc from "@grpc/grpc-js";
import * as plugin from "@pulumi/pulumi/proto/plugin_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { unary } from "../plugin";
import { COMMAND_PROVIDER_VERSION } from "../versions";
import { readAssets } from "./assets";
import { diffResponse } from "./diff-response";
import type { EngineLog } from "./engine-log";
import {
    checkInputs,
    type CommandInputs,
    commandShapes,
    type ProcessInputs,
    type RunInputs,
    runShapes,
} from "./inputs";
import { type Output, runCommand } from "./process";
import { providerSchema } from "./schema";
import { unknownOutputs, withOutputs } from "./state";
import { nameOf, requireCommand, RUN, unsupported } from "./tokens";
import { fromStruct, plainProperties, type Properties, toStruct } from "./values";

/** The command provider's service: resources `command:local:Command` and the function `command:local:run`. */
export class CommandProvider {
    readonly #cancelled = new AbortController();
    readonly #running = new Set<Promise<unknown>>();

    constructor(private readonly log: EngineLog) {
        // Any number of commands may run at once, each with a listener.
        setMaxListeners(0, this.#cancelled.signal);
    }

    /** Ends the running commands and resolves when they have ended. */
    async stop(): Promise<void> {
        this.#cancelled.abort();
        await Promise.allSettled(this.#running);
    }

    /** The handlers of the ResourceProvider methods that a command needs. */
    handlers(): grpc.UntypedServiceImplementation {
        return {
            handshake: unary((request: provider.ProviderHandshakeRequest) => {
                this.log.connect(request.getEngineAddress());
                return new provider.ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptResources(true);
            }),
            attach: unary((request: plugin.PluginAttach) => {
                this.log.connect(request.getAddress());
                return new Empty();
            }),
            getPluginInfo: unary(() => new plugin.PluginInfo().setVersion(COMMAND_PROVIDER_VERSION)),
            getSchema: unary(() => new provider.GetSchemaResponse().setSchema(JSON.stringify(providerSchema))),
            checkConfig: unary((request: provider.CheckRequest) =>
                new provider.CheckResponse().setInputs(request.getNews()),
            ),
            diffConfig: unary(() => diffResponse({}, {}, [])),
            configure: unary(() =>
                new provider.ConfigureResponse()
                    .setAcceptsecrets(true)
                    .setAcceptresources(true)
                    .setSupportspreview(true),
            ),
            check: unary(check),
            diff: unary(diff),
            create: unary((request: provider.CreateRequest) => this.#create(request)),
            read: unary((request: provider.ReadRequest) =>
                new provider.ReadResponse()
                    .setId(request.getId())
                    .setProperties(request.getProperties())
                    .setInputs(request.getInputs()),
            ),
            update: unary((request: provider.UpdateRequest) => this.#update(request)),
            delete: unary((request: provider.DeleteRequest) => this.#delete(request)),
            invoke: unary((request: provider.InvokeRequest) => this.#invoke(request)),
            cancel: unary(() => {
                this.#cancelled.abort();
                return new Empty();
            }),
        };
    }

    async #create(request: provider.CreateRequest): Promise<provider.CreateResponse> {
        requireCommand(request.getUrn());
        const inputs = fromStruct(request.getProperties());
        const id = nameOf(request.getUrn()) + randomBytes(4).toString("hex");
        const response = new provider.CreateResponse().setId(request.getPreview() ? "" : id);
        if (request.getPreview()) {
            return response.setProperties(toStruct(unknownOutputs(inputs)));
        }
        const { create, ...how } = plainProperties(inputs) as CommandInputs;
        const outputs = await this.#run(request.getUrn(), create, how, undefined);
        return response.setProperties(toStruct(withOutputs(inputs, outputs)));
    }

    async #update(request: provider.UpdateRequest): Promise<provider.UpdateResponse> {
        requireCommand(request.getUrn());
        const inputs = fromStruct(request.getNews());
        const response = new provider.UpdateResponse();
        if (request.getPreview()) {
            return response.setProperties(toStruct(unknownOutputs(inputs)));
        }
        const { create, update, ...how } = plainProperties(inputs) as CommandInputs;
        const olds = plainProperties(fromStruct(request.getOlds())) as Partial<Output>;
        const outputs = await this.#run(request.getUrn(), update ?? create, how, olds);
        return response.setProperties(toStruct(withOutputs(inputs, outputs)));
    }

    async #delete(request: provider.DeleteRequest): Promise<Empty> {
        requireCommand(request.getUrn());
        const state = plainProperties(fromStruct(request.getProperties())) as CommandInputs & Partial<Output>;
        await this.#run(request.getUrn(), state.delete, state, state);
        return new Empty();
    }

    async #invoke(request: provider.InvokeRequest): Promise<provider.InvokeResponse> {
        if (request.getTok() !== RUN) {
            throw unsupported(request.getTok());
        }
        const { inputs, failures } = checkInputs(fromStruct(request.getArgs()), runShapes, ["command"]);
        const response = new provider.InvokeResponse();
        if (failures.length > 0) {
            return response.setFailuresList(failures.map(checkFailure));
        }
        const { command, ...how } = plainProperties(inputs) as RunInputs;
        const outputs = await this.#run("", command, how, undefined);
        return response.setReturn(toStruct(withOutputs(inputs, outputs)));
    }

    /** Runs a command and returns its outputs; without a command the previous ones. */
    async #run(
        urn: string,
        command: string | undefined,
        how: ProcessInputs,
        previous: Partial<Output> | undefined,
    ): Promise<Properties> {
        const printed: Output = { stdout: previous?.stdout ?? "", stderr: previous?.stderr ?? "" };
        if (command === undefined) {
            return { ...printed };
        }
        const log = this.log.of(urn);
        const running = runCommand(command, how, printed, log.line, this.#cancelled.signal).finally(log.flushed);
        this.#running.add(running);
        try {
            const output = await running;
            return { ...output, ...readAssets(how.dir ?? process.cwd(), how.assetPaths, how.archivePaths) };
        } finally {
            this.#running.delete(running);
        }
    }
}

function check(request: provider.CheckRequest): provider.CheckResponse {
    requireCommand(request.getUrn());
    const { inputs, failures } = checkInputs(fromStruct(request.getNews()), commandShapes);
    return new provider.CheckResponse().setInputs(toStruct(inputs)).setFailuresList(failures.map(checkFailure));
}

function diff(request: provider.DiffRequest): provider.DiffResponse {
    requireCommand(request.getUrn());
    const oldInputs = request.getOldInputs() ?? request.getOlds();
    return diffResponse(
        onlyInputs(fromStruct(oldInputs)),
        fromStruct(request.getNews()),
        request.getIgnorechangesList(),
    );
}

function onlyInputs(properties: Properties): Properties {
    return Object.fromEntries(Object.entries(properties).filter(([name]) => name in commandShapes));
}

function checkFailure({ property, reason }: { property: string; reason: string }): provider.CheckFailure {
    return new provider.CheckFailure().setProperty(property).setReason(reason);
}
