/** The calls to an API server, over the deadline Job's connections or those of a kubeconfig. */
import { onOneLine } from "../values/quoted";
import { parseJson } from "../values/json";
import { fieldManager } from "./labels";
import { type KubeObject, type ObjectApi, pathOf, type Place, type Resource, type Selection } from "./resources";

export interface ApiCall {
    /** @default "GET" */
    method?: "GET" | "PATCH" | "DELETE" | "POST" | "PUT";
    /** A JSON merge patch for `PATCH`, `DeleteOptions` for `DELETE`, the object for `POST` and `PUT`. */
    body?: object;
    /** Whether the patch is a strategic merge patch. @default false */
    mergesLists?: boolean;
    signal?: AbortSignal;
}

export interface ApiResponse {
    status: number;
    body: string;
    /** When it was sent, by the API server's clock, in milliseconds since the epoch. */
    sentAt: number;
    /** The kubeconfig's context, for commands. Absent in a pod. */
    context?: string;
}

/** An API server that passes an application's answer on puts all of it into its message. */
const maxMessageLength = 1_000;

/** The API server has answered with an error. Its message is the API server's, unless it is told what has failed. */
export class ApiError extends Error {
    override readonly name = "ApiError";

    constructor(
        readonly code: number,
        readonly body = "",
        failure?: string,
        readonly context?: string,
    ) {
        const { message } = (parseJson(body) ?? {}) as { message?: unknown };
        const said = typeof message === "string" ? onOneLine(message, maxMessageLength) : undefined;
        super(failure ? `${failure}: ${code}` : (said ?? `the API server answered with status ${code}`));
    }
}

/** When answers were sent, by the objects, lists and errors that they have become. */
const times = new WeakMap<object, number>();

/**
 * When an answer was sent, by the API server's clock, in milliseconds since the epoch, to the second: what the cluster
 * notes of its objects is compared with that, since this machine's clock may differ. By this machine's clock if the
 * answer did not say it.
 */
export const sentAt = (answer: object): number => times.get(answer) ?? Date.now();

export function sent<T extends object>(answer: T, at: number): T {
    times.set(answer, at);
    return answer;
}

/** What carries calls. */
export interface Carrier {
    /** @returns what the API server answers, with any status */
    ask: (path: string, call?: ApiCall) => Promise<ApiResponse>;
    /** The items of a list, as they come. @param failure says what has failed, if that is to be in an error */
    items: (path: string, failure: string, withRules: boolean) => AsyncIterable<unknown>;
    /** Whether an answer says that there is no such object. @default by its status */
    isMissing?: (answer: ApiResponse) => boolean;
    /** Whether errors say what has failed, and not what the API server says of it. @default false */
    namesFailures?: boolean;
}

/** The text of an answer. @throws ApiError unless the call succeeded */
export function textOf({ status, body, sentAt: at, context }: ApiResponse, failure?: string): string {
    if (status >= 300) throw sent(new ApiError(status, body, failure, context), at);
    return body;
}

/** The object of an answer. @throws ApiError unless the call succeeded */
export const objectOf = (answer: ApiResponse, failure?: string): KubeObject =>
    sent(JSON.parse(textOf(answer, failure)) as KubeObject, answer.sentAt);

export function verbsOver({ ask, items, isMissing = isStatus404, namesFailures = false }: Carrier): ObjectApi {
    const unlessMissing = async (answer: Promise<ApiResponse>, failure: string) => {
        const answered = await answer;
        return isMissing(answered) ? undefined : (objectOf(answered, namesFailures ? failure : undefined) as never);
    };
    return {
        get: (object) => unlessMissing(ask(pathOf(object)), `${named(object)} cannot be read`),
        list(resource, selection) {
            const failure = `the ${resource.resource} cannot be listed`;
            return items(listPath(resource, selection), failure, selection.withRules ?? false) as AsyncIterable<never>;
        },
        patch(object, body, { mergesLists, dryRun } = {}) {
            const path = withQuery(pathOf(object), { fieldManager, dryRun });
            const call: ApiCall = { method: "PATCH", body, ...(mergesLists && { mergesLists }) };
            return unlessMissing(ask(path, call), `${named(object)} cannot be changed`);
        },
        async create(place, body, { dryRun } = {}) {
            const answer = await ask(withQuery(pathOf(place), { dryRun }), { method: "POST", body });
            const failure = `a ${place.resource.kind} cannot be created`;
            return objectOf(answer, namesFailures ? failure : undefined) as never;
        },
        async delete(object, preconditions) {
            const body = { propagationPolicy: "Background", ...(preconditions && { preconditions }) };
            const answer = ask(pathOf(object), { method: "DELETE", body });
            return (await unlessMissing(answer, `${named(object)} cannot be deleted`)) !== undefined;
        },
    };
}

/** What a change of an object gives, which must be there. @throws ApiError (404) if it is not */
export async function existing<T>(changed: Promise<T | undefined>, problem: string): Promise<T> {
    const found = await changed;
    if (found !== undefined) return found;
    throw new ApiError(404, JSON.stringify({ message: problem }));
}

const isStatus404 = ({ status }: ApiResponse) => status === 404;

const named = ({ resource, name }: Place) => `${resource.kind} ${name}`;

/** The path of a list. */
export const listPath = (
    resource: Resource,
    { namespace, withRules: _, ...query }: Selection,
    more: Record<string, string | boolean | undefined> = {},
): string => withQuery(pathOf({ resource, namespace }), { ...query, ...more });

/** A path with those parameters that have a value. */
export function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
    const given = Object.entries(query).flatMap(([key, value]) =>
        value === undefined ? [] : `${key}=${encodeURIComponent(value)}`,
    );
    return given.length === 0 ? path : `${path}?${given.join("&")}`;
}
