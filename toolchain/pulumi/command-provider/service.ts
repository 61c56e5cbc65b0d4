import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type * as grpc from "@grpc/grpc-js";
import * as plugin from "@pulumi/pulumi/proto/plugin_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { unary } from "../plugin";
import { COMMAND_PROVIDER_VERSION } from "../versions";
import { diffResponse } from "./diff-response";
import { checkInputs, type CommandInputs, onlyInOfficialProvider, onlyInputs } from "./inputs";
import { type Output, runCommand } from "./process";
import { fromStruct, holdsSecret, plainProperties, type Properties, secret, toStruct, UNKNOWN } from "./values";

/** The service for its only resource type, `command:local:Command`. */
export class CommandProvider {
    readonly #cancelled = new AbortController();
    readonly #running = new Set<Promise<unknown>>();

    /** @param show shows a line that a resource's command printed */
    constructor(private readonly show: (urn: string, line: string) => Promise<void>) {
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
            handshake: unary(() =>
                new provider.ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptResources(true),
            ),
            getPluginInfo: unary(() => new plugin.PluginInfo().setVersion(COMMAND_PROVIDER_VERSION)),
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
            cancel: unary(() => {
                this.#cancelled.abort();
                return new Empty();
            }),
        };
    }

    async #create(request: provider.CreateRequest): Promise<provider.CreateResponse> {
        const inputs = fromStruct(request.getProperties());
        if (request.getPreview()) return new provider.CreateResponse().setProperties(toStruct(previewed(inputs)));
        const how = plainProperties(inputs) as CommandInputs;
        const outputs = await this.#run(request.getUrn(), how.create, how);
        const name = request.getUrn().split("::").slice(3).join("::");
        return new provider.CreateResponse()
            .setId(name + randomBytes(4).toString("hex"))
            .setProperties(toStruct(withOutputs(inputs, outputs)));
    }

    async #update(request: provider.UpdateRequest): Promise<provider.UpdateResponse> {
        const inputs = fromStruct(request.getNews());
        if (request.getPreview()) return new provider.UpdateResponse().setProperties(toStruct(previewed(inputs)));
        const how = plainProperties(inputs) as CommandInputs;
        const olds = plainProperties(fromStruct(request.getOlds())) as Partial<Output>;
        const outputs = await this.#run(request.getUrn(), how.update ?? how.create, how, olds);
        return new provider.UpdateResponse().setProperties(toStruct(withOutputs(inputs, outputs)));
    }

    async #delete(request: provider.DeleteRequest): Promise<Empty> {
        const state = plainProperties(fromStruct(request.getProperties())) as CommandInputs & Partial<Output>;
        await this.#run(request.getUrn(), state.delete, state, state);
        return new Empty();
    }

    /** Runs a command and returns its output; without a command the previous one. */
    async #run(
        urn: string,
        command: string | undefined,
        how: CommandInputs,
        { stdout = "", stderr = "" }: Partial<Output> = {},
    ): Promise<Output> {
        if (command === undefined) return { stdout, stderr };
        // In order: the engine shows lines as they arrive.
        let shown = Promise.resolve();
        const log = (line: string) => void (shown = shown.then(() => this.show(urn, line)));
        const running = runCommand(command, how, { stdout, stderr }, log, this.#cancelled.signal).finally(() => shown);
        this.#running.add(running);
        return running.finally(() => this.#running.delete(running));
    }
}

/** The engine checks each resource before anything else is done with it. */
function check(request: provider.CheckRequest): provider.CheckResponse {
    // A URN ends in `type::name`; the type follows its parents' types and `$`.
    const type = request.getUrn().split("::")[2]?.split("$").pop();
    if (type !== "command:local:Command") throw new Error(onlyInOfficialProvider(String(type)));
    const { inputs, failures } = checkInputs(fromStruct(request.getNews()));
    return new provider.CheckResponse()
        .setInputs(toStruct(inputs))
        .setFailuresList(
            failures.map(({ property, reason }) => new provider.CheckFailure().setProperty(property).setReason(reason)),
        );
}

function diff(request: provider.DiffRequest): provider.DiffResponse {
    const olds = onlyInputs(fromStruct(request.getOldInputs() ?? request.getOlds()));
    return diffResponse(olds, fromStruct(request.getNews()), request.getIgnorechangesList());
}

/** The state after a run. If any input is a secret, all outputs are: a command may print its inputs. */
function withOutputs(inputs: Properties, { stdout, stderr }: Output): Properties {
    if (holdsSecret(inputs)) return { ...inputs, stdout: secret(stdout), stderr: secret(stderr) };
    return { ...inputs, stdout, stderr };
}

/** The state in a preview: nothing ran, and no output is known. */
const previewed = (inputs: Properties) => withOutputs(inputs, { stdout: UNKNOWN, stderr: UNKNOWN });
