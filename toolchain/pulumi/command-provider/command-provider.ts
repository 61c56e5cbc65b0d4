import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as grpc from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import * as plugin from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { engineAddress, Running, servePlugin, unary } from "../plugin";
import { COMMAND_PROVIDER_VERSION } from "../versions";
import { checkInputs, type CommandInputs, onlyInOfficialProvider } from "./inputs";
import { type Output, runCommand } from "./process";
import { fromStruct, holdsSecret, plain, type Properties, secret, toStruct, UNKNOWN } from "./values";

const engine = engineAddress && new EngineClient(engineAddress, grpc.credentials.createInsecure());

/** Shows a line that a resource's command printed in the engine's display, while the resource is updated. */
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

const running = new Running();

async function create(request: provider.CreateRequest): Promise<provider.CreateResponse> {
    const inputs = fromStruct(request.getProperties());
    if (request.getPreview()) return new provider.CreateResponse().setProperties(toStruct(previewed(inputs)));
    const how = plain(inputs) as CommandInputs;
    const outputs = await run(request.getUrn(), how.create, how);
    const name = request.getUrn().split("::").slice(3).join("::");
    return new provider.CreateResponse()
        .setId(name + randomBytes(4).toString("hex"))
        .setProperties(toStruct(withOutputs(inputs, outputs)));
}

async function update(request: provider.UpdateRequest): Promise<provider.UpdateResponse> {
    const inputs = fromStruct(request.getNews());
    if (request.getPreview()) return new provider.UpdateResponse().setProperties(toStruct(previewed(inputs)));
    const how = plain(inputs) as CommandInputs;
    const olds = plain(fromStruct(request.getOlds())) as Partial<Output>;
    const outputs = await run(request.getUrn(), how.update ?? how.create, how, olds);
    return new provider.UpdateResponse().setProperties(toStruct(withOutputs(inputs, outputs)));
}

async function remove(request: provider.DeleteRequest): Promise<Empty> {
    const state = plain(fromStruct(request.getProperties())) as CommandInputs & Partial<Output>;
    await run(request.getUrn(), state.delete, state, state);
    return new Empty();
}

/** Runs a command and returns its output; without a command the previous one. */
async function run(
    urn: string,
    command: string | undefined,
    how: CommandInputs,
    { stdout = "", stderr = "" }: Partial<Output> = {},
): Promise<Output> {
    if (command === undefined) return { stdout, stderr };
    // In order: the engine shows lines as they arrive.
    let shown = Promise.resolve();
    const log = (line: string) => void (shown = shown.then(() => show(urn, line)));
    return running.add(runCommand(command, how, { stdout, stderr }, log, running.ended).finally(() => shown));
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

/** A change of its triggers replaces a command. Which inputs changed, the engine finds itself. */
function diff(request: provider.DiffRequest): provider.DiffResponse {
    const [olds, news] = [fromStruct(request.getOldInputs()), fromStruct(request.getNews())];
    return new provider.DiffResponse()
        .setChanges(provider.DiffResponse.DiffChanges.DIFF_UNKNOWN)
        .setReplacesList(isDeepStrictEqual(olds.triggers, news.triggers) ? [] : ["triggers"]);
}

/** The state after a run. If any input is a secret, all outputs are: a command may print its inputs. */
function withOutputs(inputs: Properties, { stdout, stderr }: Output): Properties {
    if (holdsSecret(inputs)) return { ...inputs, stdout: secret(stdout), stderr: secret(stderr) };
    return { ...inputs, stdout, stderr };
}

/** The state in a preview: nothing ran, and no output is known. */
const previewed = (inputs: Properties) => withOutputs(inputs, { stdout: UNKNOWN, stderr: UNKNOWN });

/** The methods that the only resource type, `command:local:Command`, needs. */
const handlers: grpc.UntypedServiceImplementation = {
    handshake: unary(() => new provider.ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptResources(true)),
    getPluginInfo: unary(() => new plugin.PluginInfo().setVersion(COMMAND_PROVIDER_VERSION)),
    configure: unary(() =>
        new provider.ConfigureResponse().setAcceptsecrets(true).setAcceptresources(true).setSupportspreview(true),
    ),
    check: unary(check),
    diff: unary(diff),
    create: unary(create),
    read: unary((request: provider.ReadRequest) =>
        new provider.ReadResponse()
            .setId(request.getId())
            .setProperties(request.getProperties())
            .setInputs(request.getInputs()),
    ),
    update: unary(update),
    delete: unary(remove),
};
servePlugin(ResourceProviderService, handlers, running);
