/** Sends runs as traces. Loaded only on demand, because the exporter takes longer to load than all reports. */
import {
    type Attributes,
    diag,
    DiagLogLevel,
    type HrTime,
    SpanKind,
    SpanStatusCode,
    TraceFlags,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { parentIdOf } from "../../values/trace-mark";
import type { Journal } from "../journal-schema";
import { type Receiver, RefusedError, unsent } from "./receiver";
import { type RunSpan, traceIdOf, traceOf } from "./trace";

type ReadableSpan = Parameters<OTLPTraceExporter["export"]>[0][number];

/** OpenTelemetry's SDKs allow a span so many links by default. */
const mostLinks = 128;

/** The source of the spans. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` change or complete it. */
const resource = () =>
    defaultResource()
        .merge(resourceFromAttributes({ "service.name": "chaos-experiments" }))
        .merge(detectResources({ detectors: [envDetector] }));

/**
 * Sends each run as a trace, in OTLP over HTTP, and retries for 10 s what a busy receiver refuses. The variables
 * `OTEL_EXPORTER_OTLP_HEADERS`, `…_TIMEOUT`, `…_COMPRESSION`, `…_CERTIFICATE`, `…_CLIENT_CERTIFICATE` and
 * `…_CLIENT_KEY` apply.
 *
 * @param base the receiver's URL; `/v1/traces` is added unless it ends so
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 * @throws Error that says why the receiver did not accept one; the rest is not sent then
 */
export async function sendTraces(base: string, journals: readonly Journal[]): Promise<void> {
    const url = `${base.replace(/(?:\/v1\/traces)?\/?$/, "")}/v1/traces`;
    const receiver: Receiver = {
        what: "the traces",
        url,
        credentials: "OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%20TOKEN",
    };
    const refusals: string[] = [];
    // The exporter reports only in this log what a receiver rejects of a request that it accepts.
    diag.setLogger(
        { ...silent, warn: (message, ...rest) => refusals.push(...refusalIn(message, rest)) },
        { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    try {
        const exporter = new OTLPTraceExporter({ url });
        const shared = { resource: resource(), instrumentationScope: { name: "pulumi-chaos-experiments" } };
        for (const journal of journals) {
            const spans = traceOf(journal).map((span) => ({ ...readable(span, traceIdOf(journal)), ...shared }));
            await new Promise<void>((resolve, reject) =>
                exporter.export(spans, ({ error }) => (error ? reject(failureOf(error)) : resolve())),
            );
            if (refusals.length > 0) throw new Error(refusals[0]);
        }
    } catch (error) {
        throw unsent(receiver, error);
    } finally {
        diag.disable();
    }
}

const nothing = () => undefined;
const silent = { error: nothing, info: nothing, debug: nothing, verbose: nothing };

function refusalIn(message: string, rest: unknown[]): string[] {
    if (message.startsWith("Received Partial Success")) return [`it rejects a part of them: ${String(rest[0])}`];
    // A warning of a component begins with the component's name.
    if (String(rest[0]).startsWith("Export succeeded but could not deserialize"))
        return ["what answers there is no receiver of OTLP over HTTP with protobuf. Correct the URL"];
    // Other warnings may quote variables, which may hold secrets.
    return message.startsWith("Failed to read") ? [`${message}, which a variable names`] : [];
}

/** The exporter keeps the status in `code`, but none after retries. The body of the answer may be binary. */
function failureOf(error: Error & { code?: unknown }): Error {
    if (typeof error.code === "number") return new RefusedError(error.code);
    return error.message.includes("retryable status") ? new Error("it is too busy (429, 502, 503 or 504)") : error;
}

function readable(span: RunSpan, traceId: string): Omit<ReadableSpan, "resource" | "instrumentationScope"> {
    const { name, id, parent, from, to, attributes, problem, events = [], answers = [] } = span;
    const contextOf = (traceId: string, spanId: string) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
    return {
        name,
        kind: SpanKind.INTERNAL,
        spanContext: () => contextOf(traceId, id),
        parentSpanContext: parent === undefined ? undefined : contextOf(traceId, parent),
        startTime: timeOf(from),
        endTime: timeOf(to),
        duration: timeOf(to - from),
        ended: true,
        attributes: present(attributes),
        status: problem === undefined ? { code: SpanStatusCode.OK } : { code: SpanStatusCode.ERROR, message: problem },
        events: events.map(({ name, at, attributes }) => ({ name, time: timeOf(at), attributes: present(attributes) })),
        links: answers.slice(0, mostLinks).map(({ traceId, status, problem }) => ({
            context: { ...contextOf(traceId!, parentIdOf(traceId!)), isRemote: true },
            attributes: present({ "http.response.status_code": status, "chaos.problem": problem }),
        })),
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: Math.max(0, answers.length - mostLinks),
    };
}

const present = (attributes: RunSpan["attributes"]): Attributes =>
    Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

const timeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
