import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../cluster/client";
import { otherResources, type Resource, resources, type Right, rightsIn } from "../../cluster/resources";
import { type Answer, answerOf } from "./answer";
import { type ApiServerPulse, spoiledBySilence } from "./api-server";
import { type EndpointSettings, type FromSecrets, secretsOf } from "./endpoint-schema";
import { readReferences } from "./references";
import type { Access } from "./request";
import { findRoute, type NamedService, SilentError } from "./route";
import type { Route, ServiceReference } from "./service";

export interface Endpoint {
    route: Route;
    access: Access;
    /** Hides the secrets of `access` in a text. */
    hide: (text: string) => string;
}

export interface KnownRoutes {
    route?: Route;
    /** The routes to the Services that checks name, by `routeKey`. @default none */
    routes?: Record<string, Route>;
}

/** A check of any kind, with or without an endpoint. */
type AnyCheck = EndpointSettings & FromSecrets & { kind: string };

/** How a kind asks a Service, where a check does not say it. @default its only TCP port, over HTTP/1.1 */
export type Usual = Pick<NamedService, "port" | "http2">;

/** The Service that a check names. Undefined if it has a URL, asks the plan's Service, or asks nothing over HTTP. */
export function serviceNamedBy(check: AnyCheck, defaultNamespace: string, usual?: Usual): NamedService | undefined {
    const { service: name, namespace = defaultNamespace, scheme, port = usual?.port } = check;
    return name === undefined ? undefined : { ...usual, namespace, name, port, scheme };
}

/** @param verb null if the API server's proxy does not pass the requests on */
export function endpointRights(
    check: AnyCheck,
    { defaultNamespace, service, usual }: { defaultNamespace: string; service?: ServiceReference; usual?: Usual },
    verb: string | null = "get",
): Right[] {
    const named = serviceNamedBy(check, defaultNamespace, usual);
    const asked = named ?? (check.url === undefined ? service : undefined);
    const { namespace = defaultNamespace, caFrom, scheme } = check;
    const { secret, node } = otherResources;
    const caType = caFrom?.kind === "Secret" ? secret : resources.configMap;
    const reading = (where: string | undefined, type: Resource, name: string) =>
        rightsIn(where ?? namespace)("get", type, name).to("read the Secrets and the CA that a check names");
    return [
        named
            ? rightsIn(named.namespace)("get", resources.service, named.name).to("find the Service that a check names")
            : [],
        asked && verb !== null ? rightToProxy(asked, scheme, verb) : [],
        rightsIn()("list", node).to(
            "know the addresses at which a NodePort answers",
            "a Service of type NodePort is asked through the API server, or not at all by a check `grpc`, and not " +
                "recognized in the `url` of a check",
        ),
        secretsOf(check).flatMap((one) => reading(one.namespace, secret, one.secret)),
        caFrom ? reading(caFrom.namespace, caType, caFrom.name) : [],
    ].flat();
}

function rightToProxy({ namespace, name, port }: NamedService, scheme: NamedService["scheme"], verb: string): Right[] {
    // The proxy is asked for the port's number, which only the cluster knows if the check has none.
    const names = typeof port === "number" ? [`${scheme === "https" ? "https:" : ""}${name}:${port}`] : [];
    return rightsIn(namespace)(verb, { resource: "services/proxy" }, ...names).to(
        "send checks through the API server",
        "the Service needs an external address",
    );
}

/** Such as `http://shop/orders:8080`: the same for all checks that ask a Service in the same way. */
export function routeKey({ namespace, name, port, scheme = "http", http2 }: NamedService): string {
    return `${http2 ? "grpc+" : ""}${scheme}://${namespace}/${name}${port === undefined ? "" : `:${port}`}`;
}

/**
 * Finds what checks over HTTP ask: the route to their Service, the CA, and what is in Secrets. What was found is kept,
 * and what was not is looked for again at the next request.
 */
export class Endpoints {
    private readonly endpoints = new Map<AnyCheck, Promise<Endpoint>>();
    private readonly found: Map<string, Promise<Route>>;
    /** The routes that were found here, by `routeKey`. */
    readonly routes: Record<string, Route> = {};

    constructor(
        private readonly cluster: Cluster,
        private readonly defaultNamespace: string,
        private readonly known: KnownRoutes = {},
    ) {
        this.found = new Map(Object.entries(known.routes ?? {}).map(([key, route]) => [key, Promise.resolve(route)]));
    }

    /**
     * @throws MissingError, for the person who wrote the check, if something that it names is not there
     * @throws SilentError if it is there, and does not answer
     */
    of(check: AnyCheck, usual?: Usual): Promise<Endpoint> {
        return once(this.endpoints, check, () => this.find(check, usual));
    }

    /** Reads what checks refer to, for at most `withinMs`, so that their first probes need not. */
    async prepare(checks: readonly { check: AnyCheck; usual?: Usual }[], withinMs: number): Promise<void> {
        const referring = checks.filter(({ check }) => check.caFrom !== undefined || secretsOf(check).length > 0);
        if (referring.length === 0) return;
        const finding = referring.map(({ check, usual }) => this.of(check, usual));
        await Promise.race([Promise.allSettled(finding), sleep(withinMs)]);
    }

    private async find(check: AnyCheck, usual?: Usual): Promise<Endpoint> {
        const [route, { hide, ...read }] = await Promise.all([
            this.routeOf(check, usual),
            readReferences(this.cluster, check, check.namespace ?? this.defaultNamespace),
        ]);
        return { route, access: { ...read, serverName: check.serverName }, hide };
    }

    private async routeOf(check: AnyCheck, usual?: Usual): Promise<Route> {
        if (check.url !== undefined) return { kind: "address", url: check.url.replace(/\/$/, "") };
        const named = serviceNamedBy(check, this.defaultNamespace, usual);
        // `planOf` refuses a check without any of these.
        if (named === undefined) return this.known.route!;
        return once(this.found, routeKey(named), async () => {
            const route = await findRoute(this.cluster, named);
            this.routes[routeKey(named)] = route;
            return route;
        });
    }
}

/** Keeps a promise unless it rejects. */
function once<K, V>(kept: Map<K, Promise<V>>, key: K, find: () => Promise<V>): Promise<V> {
    const known = kept.get(key);
    if (known) return known;
    const finding = find();
    kept.set(key, finding);
    finding.catch(() => kept.delete(key));
    return finding;
}

/**
 * Sends a probe to an endpoint. Nothing is known about the application if the endpoint is not found, or if the API
 * server, through which or beside which it is asked, does not answer either. Finding the endpoint is not part of the
 * latency.
 */
export async function askEndpoint(
    check: AnyCheck,
    { endpoints, pulse, usual }: { endpoints: Endpoints; pulse?: ApiServerPulse; usual?: Usual },
    timeoutMs: number,
    ask: (endpoint: Endpoint) => Promise<Answer>,
): Promise<Answer> {
    const found: { endpoint?: Endpoint } = {};
    const finding = await answerOf(
        async () => {
            try {
                found.endpoint = await endpoints.of(check, usual);
                return {};
            } catch (error) {
                if (error instanceof SilentError) return { problem: error.message };
                throw error;
            }
        },
        timeoutMs,
        "unseen",
    );
    const { endpoint } = found;
    if (!finding.good || !endpoint) return finding;
    const begun = performance.now();
    const answer = await ask(endpoint);
    if (answer.good || answer.unseen || !pulse) return answer;
    const isSpoiled =
        endpoint.route.kind === "apiServer"
            ? !(await pulse.answeredSince(begun))
            : answer.status === undefined && pulse.wasSilentSince(begun);
    return isSpoiled ? spoiledBySilence(answer) : answer;
}
