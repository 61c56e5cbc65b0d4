/**
 * Loaded before whatever is run here. Before the stack's program (`nodeargs` in Pulumi.yaml), in every preview and update,
 * to have it begin sooner and to keep its secrets out of debug messages: without it, and with `typescript: true` there, the
 * program does the same. Before the programs of `npm run`, which are TypeScript too, for the same reasons.
 */
const Module = require("node:module");
const { readFileSync } = require("node:fs");
const { compiledFile, requireBundled } = require("./bundle");

// In its debug messages the SDK quotes the engine's answers, secrets in the clear: `--debug` would show them, and
// `--event-log` keep them, whatever the program marks as a secret.
require("google-protobuf").Message.prototype.toString = () => "[not shown]";

// TypeScript without its compiler, which takes longer to load than the program to run. `npm run typecheck` checks types.
require.extensions[".ts"] = (module, file) => {
    const compiled = readFileSync(compiledFile(file), "utf8");
    process.setSourceMapsEnabled(true);
    module._compile(compiled, file);
    process.setSourceMapsEnabled(false);
};
// Lines are looked up in the sources only where somebody reads them.
process.on("uncaughtExceptionMonitor", () => process.setSourceMapsEnabled(true));
process.on("unhandledRejection", (error) => {
    process.setSourceMapsEnabled(true);
    // With a listener Node no longer ends the process by itself; the SDK, where it runs the program, does.
    if (process.listenerCount("unhandledRejection") === 1) throw error;
});

/** The SDK's `debuggable`, whose promises take down no stack unless `PULUMI_DEBUG_PROMISE_LEAKS` asks for those that never end. */
function withoutStacks(debuggable) {
    const { debuggablePromise, debugPromiseLeaks } = debuggable;
    if (!debuggablePromise || debugPromiseLeaks || debuggablePromise.name === "withoutStack") return debuggable;
    debuggable.debuggablePromise = function withoutStack(...args) {
        const { stackTraceLimit } = Error;
        Error.stackTraceLimit = 0;
        try {
            return debuggablePromise(...args);
        } finally {
            Error.stackTraceLimit = stackTraceLimit;
        }
    };
    return debuggable;
}

let kubernetesClient;
const load = Module._load;
Module._load = function (name, ...rest) {
    const loaded = () => load.call(this, name, ...rest);
    switch (name) {
        // Reads several hundred files where it is not in one.
        case "@kubernetes/client-node":
            return (kubernetesClient ??= requireBundled(require.resolve(name)));
        // What the SDK loads for turning functions into resources, for driving Pulumi, and for tracing.
        case "./v8Hooks":
        case "typescript":
        case "@npmcli/arborist":
        case "./automation":
        case "@opentelemetry/exporter-zipkin":
        case "@opentelemetry/instrumentation":
        case "@opentelemetry/instrumentation-grpc":
        case "@opentelemetry/resources":
        case "@opentelemetry/sdk-trace-base":
        case "@opentelemetry/sdk-trace-node":
            return new Proxy({}, { get: (_, member) => member === "__esModule" || loaded()[member] });
        // The SDK has V8 debug the whole program, in case that a function is to be turned into a resource.
        case "../../runtime/closure/v8Hooks":
            return { isInitializedAsync: async () => {} };
        case "./debuggable":
        case "../runtime/debuggable":
            return withoutStacks(loaded());
        // Node itself looks lines up in the sources.
        case "source-map-support/register":
            return {};
        default:
            return loaded();
    }
};
