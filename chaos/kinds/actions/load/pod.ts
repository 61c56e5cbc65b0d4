import type { V1Pod, V1Service } from "../../../values/kubernetes-types";
import { isProtected } from "../../../cluster/labels";
import type { Cluster } from "../../../cluster/client";
import { otherResources, resources } from "../../../cluster/resources";
import { inlineProgram } from "../../../pods/packed";
import { restrictedContainer } from "../../../pods/pod-security";
import { runPod } from "../../../pods/pod-options";
import { problemOf } from "../../../cluster/problem";
import { baseUrl } from "../../checks/service";
import { servicePortOf } from "../../checks/route";
import { statusRange } from "../../checks/request-schema";
import { keysOf } from "../../checks/path";
import type { CaReference, SecretReference } from "../../checks/endpoint-schema";
import { ReasonError } from "../../../values/reasons";
import type { BesidePodArgs } from "../beside";
import { k6Container } from "./k6";
import { connectionsOf, type LoadAction, requiredOf, usualTimeoutMs } from "./load-action";
import { type FromVariable, lingersMs, type SenderSettings } from "./sender/settings";

/**
 * With 2,000 requests/s over up to 1,000 connections in clear text, the program takes at most 76 MB; with the heap that
 * Node.js allows by default, 125 MB.
 */
const heap = ["--max-semi-space-size=1", "--max-old-space-size=40"];

/** How long the kubelet waits for it to end, in seconds. */
const graceSeconds = lingersMs / 1_000 + 2;

const settingsVariable = "LOAD";

/** A variable of the pod's environment with what is in a Secret or a ConfigMap. */
interface Variable {
    name: FromVariable["variable"];
    valueFrom: Partial<Record<"secretKeyRef" | "configMapKeyRef", { name: string; key: string }>>;
}

/** The sender's pod. It has no account, and what is in Secrets is put into its environment by the kubelet alone. */
export function senderSpec(action: LoadAction, { image, programs, pod, lastsSeconds }: BesidePodArgs): object {
    const variables: Variable[] = [];
    const variable = (valueFrom: Variable["valueFrom"], prefix?: string): FromVariable => {
        const name = `SECRET_${variables.length + 1}` as const;
        variables.push({ name, valueFrom });
        return { variable: name, ...(prefix !== undefined && { prefix }) };
    };
    const { k6 } = action;
    const settings = settingsOf(action, {
        secret: ({ secret, key, prefix }) => variable({ secretKeyRef: { name: secret, key } }, prefix),
        ca: ({ kind = "ConfigMap", name, key = "ca.crt" }) =>
            variable({ [kind === "Secret" ? "secretKeyRef" : "configMapKeyRef"]: { name, key } }),
    });
    return {
        ...runPod(pod).spec,
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: graceSeconds,
        activeDeadlineSeconds: lastsSeconds,
        containers: [
            {
                name: "sender",
                image,
                command: ["node", ...heap, ...inlineProgram(programs.sender)],
                env: k6 ? [] : [{ name: settingsVariable, value: textOf(settings) }, ...variables],
                resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "1", memory: "128Mi" } },
                securityContext: restrictedContainer,
                // When the pod is gone, its log is, too.
                terminationMessagePolicy: "FallbackToLogsOnError",
            },
            ...(k6 ? [k6Container(k6)] : []),
        ],
    };
}

/** Without `$`: the kubelet would take `$(NAME)` for a variable. */
export const textOf = (settings: unknown): string => JSON.stringify(settings).replaceAll("$", "\\u0024");

interface Variables {
    secret: (reference: SecretReference) => FromVariable;
    ca: (reference: CaReference) => FromVariable;
}

function settingsOf(action: LoadAction, { secret, ca }: Variables): SenderSettings {
    const { method = "GET", headers = {}, body, headersFrom, queryFrom, bodyFrom, caFrom } = action;
    const all = (from: Record<string, SecretReference> = {}) =>
        Object.fromEntries(Object.entries(from).map(([name, one]) => [name, secret(one)]));
    return {
        ...placeOf(action),
        method,
        headers,
        body,
        headersFrom: all(headersFrom),
        queryFrom: all(queryFrom),
        bodyFrom: Object.entries(bodyFrom ?? {}).map(([way, one]) => ({ keys: keysOf(way), ...secret(one) })),
        ca: action.ca,
        caFrom: caFrom && ca(caFrom),
        serverName: action.serverName,
        perSecond: action.perSecond ?? 0,
        connections: connectionsOf(action),
        timeoutMs: action.timeoutMs ?? usualTimeoutMs,
        status: statusRange(action.status),
        limitsMs: requiredOf(action).flatMap((one) => ("withinMs" in one ? one.withinMs : [])),
    };
}

/** Origin, and path and query. The origin of a Service is empty until the cluster is known. */
function placeOf({ url, path = "" }: LoadAction): { origin: string; path: string } {
    if (url === undefined) return { origin: "", path };
    const { origin, pathname } = new URL(url);
    return { origin, path: pathname.replace(/\/$/, "") + path };
}

/**
 * Has the sender ask a Service at its cluster address: so no request waits for DNS, which an attack may deny, too.
 *
 * @throws ReasonError if there is no such Service, it has no such port or address, or is protected
 */
export async function equipSender(
    { service: name, namespace: named, port, scheme = "http" }: LoadAction,
    pod: V1Pod,
    { cluster, namespace: own }: { cluster: Cluster; namespace: string },
): Promise<V1Pod> {
    if (name === undefined) return pod;
    const namespace = named ?? own;
    const [service, at] = await Promise.all([
        cluster.get({ resource: resources.service, namespace, name }),
        cluster.get({ resource: otherResources.namespace, name: namespace }),
    ]);
    const problem = problemWith(service, at?.metadata?.labels);
    const number = problem ?? attempt(() => servicePortOf(service!, { namespace, name, port }));
    if (typeof number === "string")
        throw new ReasonError(
            "action-refused",
            `the experiment cannot send a load to Service ${namespace}/${name}: ${number}`,
            "Correct the experiment",
        );
    const host = `${name}.${namespace}.svc`;
    return withSettings(pod, (settings) => ({
        ...settings,
        origin: baseUrl({ host: service!.spec!.clusterIP!, port: number }, scheme),
        headers: { host: new URL(baseUrl({ host, port: number }, scheme)).host, ...lowerCased(settings.headers) },
    }));
}

function problemWith(service: V1Service | undefined, ofNamespace?: Record<string, string>): string | undefined {
    if (service === undefined) return "there is none";
    if (isProtected(service.metadata?.labels)) return "it is labeled as protected";
    if (isProtected(ofNamespace)) return "its namespace is labeled as protected";
    const { clusterIP = "None" } = service.spec ?? {};
    return clusterIP === "None" || clusterIP === ""
        ? "it has no address in the cluster; set `url` instead, such as http://NAME.NAMESPACE.svc:PORT"
        : undefined;
}

function attempt<T>(what: () => T): T | string {
    try {
        return what();
    } catch (error) {
        return problemOf(error);
    }
}

/** A header's name counts in any case, and what the definition says must replace the default. */
const lowerCased = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [/^host$/i.test(name) ? "host" : name, value]));

function withSettings(pod: V1Pod, change: (settings: SenderSettings) => SenderSettings): V1Pod {
    const changed = structuredClone(pod);
    const variable = changed.spec!.containers[0]!.env!.find(({ name }) => name === settingsVariable)!;
    variable.value = textOf(change(JSON.parse(variable.value!) as SenderSettings));
    return changed;
}
