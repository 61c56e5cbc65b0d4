import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import {
    GetRootResourceResponse,
    type LogRequest,
    LogSeverity,
    SetRootResourceResponse,
} from "@pulumi/pulumi/proto/engine_pb";
import { LanguageRuntimeClient } from "@pulumi/pulumi/proto/language_grpc_pb";
import * as language from "@pulumi/pulumi/proto/language_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as resource from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
    answer,
    call,
    homeWithStandIns,
    type RunningPlugin,
    serve,
    startPlugin,
    temporaryFolder,
} from "../support/pulumi-plugin";
import { local, until } from "../support/until";

// Each test starts a Node process, on a machine that may be building.
vi.setConfig({ testTimeout: 30_000 });

const folder = temporaryFolder();
const program = join(folder.path, "program");
/** What a program is begun with where the host is not to read its TypeScript. */
const begin = join(program, "begin.js");
let outputs: unknown;
let errors: string[] = [];
let file: string;
let engine: { address: string; close: () => void };
let plugin: RunningPlugin;
let client: LanguageRuntimeClient;

const engineHandlers = {
    log: answer((request: LogRequest) => {
        if (request.getSeverity() === LogSeverity.ERROR) {
            errors.push(request.getMessage());
        }
        return new Empty();
    }),
    getRootResource: answer(() => new GetRootResourceResponse()),
    setRootResource: answer(() => new SetRootResourceResponse()),
};

const monitorHandlers = {
    supportsFeature: answer(() => new resource.SupportsFeatureResponse().setHassupport(true)),
    registerResource: answer((request: resource.RegisterResourceRequest) =>
        new resource.RegisterResourceResponse().setUrn(`urn:pulumi:local::shop::${request.getType()}::stack`),
    ),
    registerResourceOutputs: answer((request: resource.RegisterResourceOutputsRequest) => {
        outputs = request.getOutputs()?.toJavaScript();
        return new Empty();
    }),
    signalAndWaitForShutdown: answer(() => new Empty()),
};

function runRequest(source: string, options: object = {}) {
    writeFileSync(join(program, "index.ts"), source);
    const info = new language.ProgramInfo().setRootDirectory(program).setProgramDirectory(program);
    info.setEntryPoint("index.ts").setOptions(Struct.fromJavaScript(options as Record<string, string>));
    const request = new language.RunRequest().setInfo(info).setMonitorAddress(engine.address);
    request.setProject("shop").setStack("local").setOrganization("organization").setParallel(4);
    request.getConfigMap().set("shop:variant", "four").set("shop:agent.key", "abc");
    return request.setConfigsecretkeysList(["shop:agent.key"]);
}

async function run(source: string, options?: object) {
    const response = await call<language.RunResponse>(client, "run", runRequest(source, options));
    return { error: response.getError(), bail: response.getBail() };
}

beforeAll(async () => {
    file = (await homeWithStandIns(folder.path)).languageHost;
    mkdirSync(program);
    writeFileSync(join(program, "package.json"), '{ "name": "shop", "dependencies": { "@pulumi/command": "1" } }');
    writeFileSync(join(program, "tsconfig.json"), '{ "compilerOptions": { "noCheck": true, "types": [] } }');
    symlinkSync(resolve(__dirname, "../../node_modules"), join(program, "node_modules"));
    writeFileSync(begin, `require(${JSON.stringify(require.resolve("tsx/cjs"))});`);
    engine = await serve([EngineService, engineHandlers], [ResourceMonitorService, monitorHandlers]);
});

beforeAll(startHost);

async function startHost() {
    plugin = await startPlugin(file, engine.address);
    client = new LanguageRuntimeClient(plugin.address, grpc.credentials.createInsecure());
}

afterAll(() => {
    plugin.process.kill("SIGKILL");
    engine.close();
    folder.remove();
});

beforeEach(() => {
    outputs = undefined;
    errors = [];
});

describe("run", () => {
    test("passes configuration, project and stack to the program, and nodeargs to Node", async () => {
        const source = `import * as pulumi from "@pulumi/pulumi";
            if (process.execArgv.join(" ") !== "--require ${begin}") throw new Error(process.execArgv.join(" "));
            const config = new pulumi.Config();
            export const variant: string = config.require("variant");
            export const key = config.requireSecret("agent.key");
            export const where = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");`;
        const options = { typescript: false, nodeargs: `--require ${begin}` };
        expect(await run(source, options)).toEqual({ error: "", bail: false });
        expect(outputs).toMatchObject({ variant: "four", where: "organization/shop/local", key: { value: "abc" } });
    });

    test("a program that throws reports the error itself, with its own lines in the stack trace", async () => {
        expect(await run('interface Tea {}\nfunction brew(): Tea {\n  throw new Error("no tea");\n}\nbrew();')).toEqual(
            { error: "", bail: true },
        );
        expect(errors.join("\n")).toMatch(/no tea[^]*index\.ts:3:9[^]*index\.ts:5:1/);
    });

    test("of a RunError, only the message is shown", async () => {
        const source = 'import { RunError } from "@pulumi/pulumi";\nthrow new RunError("agent.key is missing");';
        expect(await run(source)).toEqual({ error: "", bail: true });
        expect(errors).toEqual(["agent.key is missing"]);
    });

    test("a program that ends by itself is reported with its exit code", async () => {
        expect(await run("process.exit(7);")).toEqual({
            error: "Program exited with non-zero exit code: 7",
            bail: false,
        });
    });
});

test("a method that it lacks is answered as unimplemented", async () => {
    const asked = call(client, "generateProgram", new language.GenerateProgramRequest());
    await expect(asked).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
});

test.each([
    ["an interrupt", () => void plugin.process.kill("SIGINT")],
    ["the engine's death", () => void plugin.process.stdin!.destroy()],
])("%s ends the host and the program", async (_, end) => {
    if (plugin.process.exitCode !== null) {
        await startHost();
    }
    errors = [];
    const source = `import * as pulumi from "@pulumi/pulumi";
        pulumi.log.error("pid " + process.pid);
        setInterval(() => undefined, 1000);`;
    void run(source).catch(() => undefined);
    await until("it writes an error", () => errors.length > 0, { ...local, timeoutMs: 15_000 });
    const pid = Number(errors[0]!.split(" ")[1]);
    end();
    expect(await plugin.ended).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
