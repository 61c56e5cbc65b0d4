import * as z from "zod";
import { endpointMistakes, endpointSchema, pathSchema } from "../../checks/endpoint-schema";
import { bodyMistakes, queryNamesIn, requestSchema } from "../../checks/request-schema";
import { otherResources, resources, rightsIn } from "../../../cluster/resources";
import { parseDuration } from "../../../values/duration";
import { durationBetween, type Mistake, notAnObject, together } from "../../../values/texts";
import type { ActionKind } from "../action-kind";
import { k6Mistakes, k6Schema } from "./k6";
import { type LoadAction, type LoadLimit, most, nameOf, requestOf, usualTimeoutMs } from "./load-action";
import { equipSender, senderSpec, textOf } from "./pod";
import { SenderReader } from "./reader";
import { lateSeconds } from "./sender/k6-samples";

const limit = z
    .strictObject(
        { atMost: durationBetween({ least: "1ms", most: "60s" }, "300ms or 2s") },
        { error: notAnObject('{ atMost: "300ms" }') },
    )
    .optional();

const latency = z
    .strictObject({ p50: limit, p95: limit, p99: limit }, { error: notAnObject('{ p99: { atMost: "300ms" } }') })
    .refine((limits) => Object.values(limits).some((one) => one !== undefined), {
        error: 'is empty; allowed: p50, p95 or p99, such as { p99: { atMost: "300ms" } }',
        when: ({ issues }) => issues.length === 0,
    });

export const load: ActionKind<LoadAction> = {
    schema: z
        .strictObject({
            kind: z.literal("load"),
            name: z.string().trim().min(1).max(60).optional(),
            k6: k6Schema.optional(),
            perSecond: z.int().min(1).max(most.perSecond).optional(),
            path: pathSchema("/products").optional(),
            ...endpointSchema,
            ...requestSchema,
            timeoutMs: z.int().min(100).max(60_000).optional(),
            connections: z.int().min(1).max(most.connections).optional(),
            successRate: z.number().positive().max(1).optional(),
            latency: latency.optional(),
        })
        .superRefine(
            ...together<LoadAction>((action) =>
                action.k6 === undefined
                    ? [
                          ...endpointMistakes(action, queryNamesIn(action.path)),
                          ...bodyMistakes(action),
                          ...placeMistakes(action),
                          ...limitMistakes(action),
                          ...unsendableMistakes(action),
                      ]
                    : k6Mistakes(action),
            ),
        ),
    examples: [
        { kind: "load", service: "NAME", path: "/", perSecond: 100 },
        { kind: "load", url: "http://web.example", path: "/", perSecond: 100 },
        { kind: "load", k6: { image: "registry.example/k6:1", args: ["run", "/scripts/shop.js"] } },
    ],
    describe: (action) =>
        action.k6
            ? `run "k6 ${action.k6.args.join(" ")}" of the image ${action.k6.image} during the whole run`
            : `send ${action.perSecond} requests/s to ${requestOf(action)} during the whole run`,
    rights: (action, namespace) => {
        const [here, there] = [rightsIn(namespace), rightsIn(action.namespace ?? namespace)];
        const send = "send a load from a pod";
        return [
            here("get create delete", resources.pod).to(send),
            here("get", { resource: "pods/log" }).to("read what became of a load's requests"),
            ...(action.service === undefined
                ? []
                : [
                      there("get", resources.service, action.service).to("find the Service of a load"),
                      there("get", otherResources.namespace, action.namespace ?? namespace).to(
                          "refuse a load on a namespace that is protected",
                      ),
                  ].flat()),
        ].flat();
    },
    beside: {
        name: nameOf,
        containers: ({ k6 }) => ["sender", ...(k6 ? ["k6"] : [])],
        podSpec: senderSpec,
        equip: equipSender,
        reader: (action) => new SenderReader(action),
        settlesMs: ({ k6, timeoutMs = usualTimeoutMs }) => (k6 ? (lateSeconds + 2) * 1_000 : timeoutMs),
    },
};

/** The pod reads what it needs from its own namespace. */
function placeMistakes(action: Partial<LoadAction>): Mistake[] {
    const { perSecond, path, url, service, headersFrom, queryFrom, bodyFrom, caFrom } = action;
    const elsewhere = Object.entries({ headersFrom, queryFrom, bodyFrom }).flatMap(([field, from]) =>
        Object.entries(from ?? {}).flatMap(([name, one]) => (one?.namespace === undefined ? [] : `${field}.${name}`)),
    );
    const places = [...elsewhere, ...(caFrom?.namespace === undefined ? [] : ["caFrom"])];
    const required: [field: string, value: unknown, allowed: string][] = [
        ["perSecond", perSecond, "a number"],
        ["path", path, "text"],
        ["service", url ?? service, "the name of a Service, or `url` instead"],
    ];
    return [
        ...required.flatMap(([field, value, allowed]) =>
            value === undefined ? [{ field, message: `is missing; allowed: ${allowed}` }] : [],
        ),
        ...places.map((place) => ({
            field: `${place}.namespace`,
            message: "a load's pod is in the experiment's namespace, and reads nothing of others; leave it out",
        })),
    ];
}

/** What no answer could be good with. */
function unsendableMistakes(action: Partial<LoadAction>): Mistake[] {
    const { headers, headersFrom, status } = action;
    const ofLength = Object.entries({ headers, headersFrom }).flatMap(([field, all]) =>
        Object.keys(all ?? {})
            .filter((name) => /^(?:content-length|transfer-encoding)$/i.test(name))
            .map((name) => ({ field: `${field}.${name}`, message: "the load sends it by its body; leave it out" })),
    );
    const most = [status].flat().at(-1);
    const sizes = Object.entries(action).map(([field, value]) => ({ field, length: sizeOf(value) }));
    const length = sizes.reduce((sum, one) => sum + one.length, 0);
    const longest = sizes.sort((one, other) => other.length - one.length)[0];
    return [
        ...ofLength,
        ...(Number(most) >= 100 && Number(most) < 200
            ? [{ field: "status", message: "no such answer is the last to a request; allowed: 200 to 599" }]
            : []),
        ...(length > maxLength
            ? [{ field: longest!.field, message: `with it, the load has ${length} characters; allowed: ${maxLength}` }]
            : []),
    ];
}

/** Its pod gets it in a variable, of which Linux allows 128 KiB. */
const maxLength = 100_000;
const sizeOf = (value: unknown): number => {
    try {
        return Buffer.byteLength(textOf(value ?? null));
    } catch {
        // What JSON does not know is another mistake.
        return 0;
    }
};

function limitMistakes({ latency, timeoutMs = usualTimeoutMs }: Partial<LoadAction>): Mistake[] {
    return Object.entries(latency ?? {}).flatMap(([of, limit]: [string, LoadLimit | undefined]) => {
        const limitMs = parseDuration(limit?.atMost ?? "");
        if (limitMs === undefined || limitMs <= timeoutMs) return [];
        const message = `is longer than the time limit of a request; allowed: at most ${timeoutMs}ms`;
        return [{ field: `latency.${of}.atMost`, message }];
    });
}
