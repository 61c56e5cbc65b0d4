import * as z from "zod";
import { type CheckKind, type CheckSettings, checkSettingsSchema } from "./check-kind";
import { endpointMistakes, endpointSchema, type EndpointSettings } from "./endpoint-schema";
import { askEndpoint, endpointRights, serviceNamedBy, type Usual } from "./endpoints";
import { askHealth } from "./grpc-health";
import { timelyAnswer } from "./timely-answer";
import { shortened } from "../../values/quoted";
import { type Mistake, together } from "../../values/texts";

/** Asks a gRPC server for its health, by `grpc.health.v1.Health/Check`: `SERVING` is good. */
export interface GrpcCheck extends CheckSettings, Omit<EndpointSettings, "queryFrom"> {
    kind: "grpc";
    /** The gRPC service whose health is asked, such as `shop.Orders`. @default the whole server's */
    healthService?: string;
    /** Slower answers are bad, in milliseconds. @default `timeoutMs` */
    maxLatencyMs?: number;
}

const { queryFrom: _, ...endpoint } = endpointSchema;

const usual: Usual = { http2: true };

export const grpc: CheckKind<GrpcCheck> = {
    examples: [{ kind: "grpc", service: "OTHER", namespace: "check" }],
    schema: z
        .strictObject({
            kind: z.literal("grpc"),
            healthService: z
                .string()
                .max(200)
                .regex(/^[^\s\p{Cc}/]+$/u, { error: "not the name of a gRPC service; allowed: such as shop.Orders" })
                .optional(),
            ...endpoint,
            maxLatencyMs: z.int().positive().optional(),
            ...checkSettingsSchema,
        })
        .superRefine(...together<GrpcCheck>((check) => [...endpointMistakes(check, []), ...ownMistakes(check)])),
    name: nameOf,
    describeSuccess: (check) => `requests for ${nameOf(check)} were answered SERVING`,
    isTrial: true,
    showsLatency: true,
    overNetwork: true,
    limitMs: ({ maxLatencyMs }) => maxLatencyMs,
    usual,
    asks: (check, defaultNamespace) => serviceNamedBy(check, defaultNamespace, usual),
    rights: (check, place) => endpointRights(check, { ...place, usual }, null),
    probe: (check, context, timeoutMs) =>
        askEndpoint(check, { ...context, usual }, timeoutMs, ({ route, access, hide }) => {
            const { pulse, traceKey } = context;
            return timelyAnswer(
                check,
                { access, hide, pulse, traceKey },
                timeoutMs,
                () => "SERVING",
                (headers, signal, late) =>
                    askHealth(
                        { service: check.healthService ?? "", headers, timeoutMs },
                        // `findRoute` finds only addresses for HTTP/2.
                        (route as Extract<typeof route, { kind: "address" }>).url,
                        signal,
                        access,
                        { hide, late },
                    ),
            );
        }),
};

function nameOf({ healthService = "", service, url }: GrpcCheck): string {
    const whose = [healthService, service ?? url].filter((one) => one !== "").join(" of ");
    return shortened(`gRPC health of ${whose}`, 60);
}

/** HTTP/2 knows no headers of a connection, and gRPC has headers of its own. */
const notMetadata = new RegExp(
    "^(?:connection|host|keep-alive|proxy-connection|te|transfer-encoding|upgrade|http2-settings|" +
        "content-(?:length|type)|grpc-.*)$",
    "i",
);

function ownMistakes({ url, service, headers, headersFrom }: Partial<GrpcCheck>): Mistake[] {
    const refused = Object.entries({ headers, headersFrom }).flatMap(([field, all]) =>
        Object.keys(all ?? {})
            .filter((name) => notMetadata.test(name))
            .map((name) => ({ field: `${field}.${name}`, message: "is no metadata of gRPC; leave it out" })),
    );
    const missing = { field: "service", message: "is missing; allowed: the name of a Service, or `url` instead" };
    return [...(url === undefined && service === undefined ? [missing] : []), ...refused];
}
