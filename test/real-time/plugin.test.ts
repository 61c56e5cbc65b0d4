import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { type LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { LanguageRuntimeClient } from "@pulumi/pulumi/proto/language_grpc_pb";
import * as language from "@pulumi/pulumi/proto/language_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as resource from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
    answer,
    call,
    homeWithStandIns,
    type RunningPlugin,
    serve,
    startPlugin,
    temporaryFolder,
} from "../support/pulumi-plugin";

// The package is bundled first, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const chaos = resolve(__dirname, "../../chaos");
const schema = readFileSync(join(chaos, "schema.json"), "utf8");
const type = "chaos-experiments:index:Experiment";
const folder = temporaryFolder();
let warnings: string[] = [];
let engine: { address: string; close: () => void };
let host: RunningPlugin;
let running: grpc.ClientReadableStream<language.RunPluginResponse>;
let client: ResourceProviderClient;

const engineHandlers = {
    log: answer((request: LogRequest) => {
        if (request.getSeverity() === LogSeverity.WARNING) warnings.push(request.getMessage());
        return new Empty();
    }),
};
const monitorHandlers = {
    supportsFeature: answer(() => new resource.SupportsFeatureResponse().setHassupport(true)),
    registerResource: answer((request: resource.RegisterResourceRequest) =>
        new resource.RegisterResourceResponse()
            .setUrn(`urn:pulumi:dev::app::${request.getType()}::${request.getName()}`)
            .setId(request.getCustom() ? "id" : "")
            .setObject(request.getObject()),
    ),
    registerResourceOutputs: answer(() => new Empty()),
    invoke: answer(() => new provider.InvokeResponse().setReturn(Struct.fromJavaScript({}))),
};

beforeAll(async () => {
    engine = await serve([EngineService, engineHandlers], [ResourceMonitorService, monitorHandlers]);
    host = await startPlugin((await homeWithStandIns(folder.path)).languageHost, engine.address);
    const languages = new LanguageRuntimeClient(host.address, grpc.credentials.createInsecure());
    const info = new language.ProgramInfo().setRootDirectory(chaos).setProgramDirectory(chaos).setEntryPoint(".");
    // The working folder is that of the program that uses the plugin.
    const request = new language.RunPluginRequest().setInfo(info).setPwd(folder.path).setArgsList([engine.address]);
    running = languages.runPlugin(request);
    running.on("error", () => undefined);
    const port = await new Promise<string>((resolve) =>
        running.on("data", (response: language.RunPluginResponse) => {
            const text = Buffer.from(response.getStdout_asU8()).toString().trim();
            if (text !== "") resolve(text);
        }),
    );
    client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
});
afterAll(async () => {
    running?.cancel();
    // It ends what it has started when its standard input ends.
    host?.process.stdin!.end();
    await host?.ended;
    engine?.close();
    folder.remove();
});
beforeEach(() => void (warnings = []));

/** An output, as engines write it. Without a value it is not known. */
const output = (fields: { value?: JavaScriptValue; secret?: boolean; dependencies?: string[] }) => ({
    "4dabf18193072939515e22adb298388d": "d0e6a833031e9bbcd3f4e8bde6ca49a4",
    ...fields,
});

const valid = {
    enabled: false,
    context: "kind-test",
    hypothesis: "It answers.",
    attacks: [{ kind: "dns", target: "k8s.deployment=web,k8s.namespace=shop" }],
    checks: [{ kind: "http", service: "web", path: "/" }],
};

async function construct(
    inputs: Record<string, JavaScriptValue>,
    change = (request: provider.ConstructRequest) => request,
) {
    const request = new provider.ConstructRequest().setType(type).setName("one").setProject("app").setStack("dev");
    request.setDryrun(true).setMonitorendpoint(engine.address).setInputs(Struct.fromJavaScript(inputs));
    const response = await call<provider.ConstructResponse>(client, "construct", change(request));
    return response.getState()!.toJavaScript();
}

describe("the package as a plugin, from a checkout", () => {
    it("serves the schema of its version", async () => {
        const answered = await call<provider.GetSchemaResponse>(client, "getSchema", new provider.GetSchemaRequest());
        expect(answered.getSchema()).toBe(schema);
        const { version } = JSON.parse(readFileSync(join(chaos, "package.json"), "utf8")) as { version: string };
        expect(JSON.parse(schema)).toMatchObject({ name: "chaos-experiments", version });
    });

    it("constructs an experiment", async () => {
        expect(await construct(valid)).toMatchObject({ verdict: "disabled" });
        expect(warnings).toEqual([]);
    });

    it("takes arguments that a transform of the program has made outputs", async () => {
        const attacks = [{ kind: output({ value: "dns" }), target: output({ value: "k8s.deployment=web" }) }];
        await construct({ ...valid, namespace: output({ value: "shop" }), attacks: output({ value: attacks }) });
        expect(warnings).toEqual([]);
    });

    it.each([
        ["an output that is not known", output({})],
        ["a secret", output({ value: "k8s.deployment=web", secret: true })],
        [
            "an output of a resource",
            output({ value: "k8s.deployment=web", dependencies: ["urn:pulumi:dev::app::a:b:C::d"] }),
        ],
    ])("says where %s is, since a preview must show what would be attacked", async (_, target) => {
        await construct({ ...valid, attacks: [{ kind: "dns", target }] });
        expect(warnings.join()).toContain("attacks.0.target: is an Output; allowed: a plain value");
    });

    it("refuses what only programs in TypeScript may say", async () => {
        await construct({ ...valid, plan: {} });
        expect(warnings.join()).toContain('there is no field "plan" here');
    });

    it("refuses another component, with the one that it has", async () => {
        const other = construct(valid, (request) => request.setType("chaos-experiments:index:Other"));
        await expect(other).rejects.toThrow(`allowed: ${type}`);
    });
});
