import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
    call,
    homeWithStandIns,
    type RunningPlugin,
    serve,
    startPlugin,
    temporaryFolder,
} from "../../support/pulumi-plugin";
import { local, until } from "../../support/until";

type Json = Record<string, unknown>;

const URN = "urn:pulumi:local::shop::command:local:Command::greet";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const secret = (value: unknown) => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    value,
});

const folder = temporaryFolder();
const logged: { urn: string; message: string; ephemeral: boolean }[] = [];
let file: string;
let engine: { address: string; close: () => void };
let plugin: RunningPlugin;
let client: ResourceProviderClient;

const struct = (properties: Json) => Struct.fromJavaScript(properties as Parameters<typeof Struct.fromJavaScript>[0]);
const json = (value: Struct | undefined) => value!.toJavaScript() as Json;

async function check(news: Json, urn = URN) {
    const request = new proto.CheckRequest().setUrn(urn).setNews(struct(news));
    const response = await call<proto.CheckResponse>(client, "check", request);
    return { inputs: json(response.getInputs()), failures: response.getFailuresList().map((it) => it.toObject()) };
}

async function diff(olds: Json, news: Json) {
    const request = new proto.DiffRequest().setUrn(URN).setOlds(struct(olds)).setOldInputs(struct(olds));
    const response = await call<proto.DiffResponse>(client, "diff", request.setNews(struct(news)));
    return { changes: response.getChanges(), replaces: response.getReplacesList() };
}

async function create(properties: Json, preview = false) {
    const request = new proto.CreateRequest().setUrn(URN).setProperties(struct(properties)).setPreview(preview);
    const response = await call<proto.CreateResponse>(client, "create", request);
    return { id: response.getId(), state: json(response.getProperties()) };
}

async function update(olds: Json, news: Json, preview = false) {
    const request = new proto.UpdateRequest()
        .setUrn(URN)
        .setOlds(struct(olds))
        .setNews(struct(news))
        .setPreview(preview);
    return json((await call<proto.UpdateResponse>(client, "update", request)).getProperties());
}

function remove(properties: Json) {
    return call<Empty>(client, "delete", new proto.DeleteRequest().setUrn(URN).setProperties(struct(properties)));
}

let complaints: () => string;

async function start() {
    plugin = await startPlugin(file, engine.address);
    complaints = plugin.complaints;
    client = new ResourceProviderClient(plugin.address, grpc.credentials.createInsecure());
}

beforeAll(async () => {
    file = (await homeWithStandIns(folder.path)).commandProvider;
    engine = await serve([
        EngineService,
        {
            log: (request: { request: LogRequest }, callback: grpc.sendUnaryData<Empty>) => {
                const { urn, message, ephemeral } = request.request.toObject();
                logged.push({ urn, message, ephemeral });
                callback(null, new Empty());
            },
        },
    ]);
    await start();
});

afterAll(() => {
    plugin.process.kill("SIGKILL");
    engine.close();
    folder.remove();
});

beforeEach(() => logged.splice(0));

describe("check", () => {
    test("fills in the default and keeps secrets marked", async () => {
        const { inputs, failures } = await check({ create: "true", environment: { KEY: secret("abc") } });
        expect(failures).toEqual([]);
        expect(inputs).toEqual({ create: "true", addPreviousOutputInEnv: true, environment: { KEY: secret("abc") } });
    });

    test("reports every mistake at once", async () => {
        const { failures } = await check({ creat: "x", logging: "all", addPreviousOutputInEnv: false, stdin: "y" });
        expect(failures.map((it) => it.property).sort()).toEqual(["addPreviousOutputInEnv", "creat", "logging"]);
        expect(failures.find((it) => it.property === "logging")?.reason).toContain(
            "logging with another value than stderr",
        );
    });

    test("accepts values that only the update will know", async () => {
        expect((await check({ create: UNKNOWN, environment: UNKNOWN, triggers: [UNKNOWN] })).failures).toEqual([]);
    });

    test("names the official provider for remote commands and for files as outputs", async () => {
        const official = /official provider.*pulumi plugin install resource command 1\.2\.1/;
        const remote = "urn:pulumi:local::shop::command:remote:Command::it";
        await expect(check({}, remote)).rejects.toThrow(official);
        for (const input of [{ assetPaths: ["*"] }, { interpreter: ["node", "-e"] }, { dir: "/" }])
            expect((await check({ create: "true", ...input })).failures[0]?.reason).toMatch(official);
    });
});

describe("diff", () => {
    const { DIFF_UNKNOWN } = proto.DiffResponse.DiffChanges;

    test("leaves it to the engine to find which inputs changed", async () => {
        const [olds, news] = [{ environment: { A: "1" } }, { environment: { A: "2", B: "1" } }];
        expect(await diff(olds, news)).toEqual({ changes: DIFF_UNKNOWN, replaces: [] });
    });

    test("replaces a command with another trigger, and no other", async () => {
        expect((await diff({ triggers: [1] }, { triggers: [1] })).replaces).toEqual([]);
        expect((await diff({ triggers: ["1"] }, { triggers: ["2"] })).replaces).toEqual(["triggers"]);
        expect((await diff({ triggers: ["1"] }, { triggers: [UNKNOWN] })).replaces).toEqual(["triggers"]);
    });
});

describe("create", () => {
    test("returns the output without its last newline", async () => {
        const { id, state } = await create({ create: "echo one; echo two; echo three >&2" });
        expect(id).toMatch(/^greet[0-9a-f]{8}$/);
        expect(state).toMatchObject({ stdout: "one\ntwo", stderr: "three" });
    });

    test("runs with its environment and standard input", async () => {
        const how = { environment: { NAME: "shop" }, stdin: "given" };
        const { state } = await create({ create: 'echo "$NAME"; cat', ...how });
        expect(state.stdout).toBe("shop\ngiven");
    });

    test("runs nothing in a preview, and its outputs are unknown", async () => {
        const mark = join(folder.path, "previewed");
        const { state } = await create({ create: `touch ${mark}` }, true);
        expect(state).toMatchObject({ stdout: UNKNOWN, stderr: UNKNOWN });
        expect(existsSync(mark)).toBe(false);
    });

    test("makes every output a secret if an input is one", async () => {
        const { state } = await create({ create: "echo $KEY", environment: { KEY: secret("abc") } });
        expect(state).toMatchObject({ stdout: secret("abc"), stderr: secret(""), environment: { KEY: secret("abc") } });
    });

    test("fails with the exit code, the command and its output", async () => {
        const failing = create({ create: "echo out; echo err >&2; exit 3" });
        await expect(failing).rejects.toThrow(/exit status 3: running "echo out; echo err >&2; exit 3":\nout\nerr/);
    });

    test.each([
        ["undefined", undefined, ["err", "out"]],
        ["stderr", "stderr", ["err"]],
    ])("logs the streams that `logging` selects: %s", async (_, logging, expected) => {
        await create({ create: "echo out; echo err >&2", ...(logging && { logging }) });
        expect(logged.map((it) => it.message).sort()).toEqual(expected);
        expect(logged.every((it) => it.urn === URN && it.ephemeral)).toBe(true);
    });

    test("runs many at once without writing to standard error, and logs a last line without a newline", async () => {
        const commands = Array.from({ length: 24 }, (_, index) =>
            create({ create: `sleep 0.1; printf 'é %s' ${index}` }),
        );
        const printed = (await Promise.all(commands)).map((it) => it.state.stdout);
        expect(printed).toEqual(commands.map((_, index) => `é ${index}`));
        expect(logged.map((it) => it.message).sort()).toEqual([...printed].sort());
        expect(complaints()).toBe("");
    });
});

describe("update and delete", () => {
    const olds = { stdout: "before", stderr: "" };
    const show = 'echo "[$PULUMI_COMMAND_STDOUT]"';

    test("an update runs the update command, which sees the previous output", async () => {
        expect(await update(olds, { create: "echo no", update: show })).toMatchObject({ stdout: "[before]" });
    });

    test("an update without an update command runs create again", async () => {
        expect(await update(olds, { create: show })).toMatchObject({ stdout: "[before]" });
    });

    test("an update without either command keeps the previous output", async () => {
        expect(await update(olds, { delete: "true" })).toMatchObject({ stdout: "before", stderr: "" });
    });

    test("a delete sees the previous output, even if it is a secret", async () => {
        const file = join(folder.path, "deleted");
        await remove({ delete: `printf %s "$PULUMI_COMMAND_STDOUT" > ${file}`, stdout: secret("abc"), stderr: "" });
        expect(readFileSync(file, "utf8")).toBe("abc");
    });
});

test("a method that it lacks is answered as unimplemented", async () => {
    const asked = call(client, "invoke", new proto.InvokeRequest().setTok("command:local:run"));
    await expect(asked).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
});

describe("the end", () => {
    const cleaning = (name: string) => {
        const log = join(folder.path, name);
        writeFileSync(log, "");
        const onTerm = `trap 'echo cleaned >> ${log}; exit 1' TERM`;
        const command = `${onTerm}; echo began >> ${log}; while :; do sleep 0.05; done`;
        return { command, log: () => readFileSync(log, "utf8") };
    };

    test.each([
        ["a cancellation", () => call(client, "cancel", new Empty())],
        ["an interrupt", async () => void plugin.process.kill("SIGINT")],
        ["the engine's death", async () => void plugin.process.stdin!.destroy()],
    ])("%s lets the running command clean up", async (name, end) => {
        if (plugin.process.exitCode !== null || plugin.process.signalCode !== null) {
            await start();
        }
        const { command, log } = cleaning(name.replace(/\W/g, "-"));
        const running = create({ create: command }).catch((error: Error) => error.message);
        await until("it begins", () => log().includes("began"), local);
        await end();
        await until("it has cleaned up", () => log().includes("cleaned"), local);
        expect(await running).toMatch(/cancelled|UNAVAILABLE/);
        if (name === "a cancellation") {
            await expect(create({ create: "true" })).rejects.toThrow("cancelled before it began");
            plugin.process.kill("SIGINT");
        }
        expect(await plugin.ended).toBe(0);
    });
});
