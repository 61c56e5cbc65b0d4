/**
 * What Kubernetes accepts and how it reads a pod: names, ports, and which pods count. Nothing else in the
 * package decides these. Has no schemas: the deadline Job asks it, too.
 */
import type { V1Container, V1ContainerStatus, V1Pod, V1ServicePort, V1Status } from "./kubernetes-types";
import { isIP } from "node:net";
import { quoted } from "./quoted";

/** What is read of a pod. */
export type Pod = Pick<V1Pod, "metadata" | "spec" | "status">;

export interface TextRule {
    isValid: (text: string) => boolean;
    /** Completes the sentence "allowed: …". */
    allowed: string;
}

const ends = "beginning and ending with a letter or digit";
const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";

/**
 * A DNS label (RFC 1123): the name of a namespace, a Service, or a port of a Service. Kubernetes before 1.34 wants a
 * Service's to begin with a letter: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 *
 * @param length less for a name to which others add something. @default 63
 */
export const dnsLabel = (length = 63): TextRule => ({
    isValid: (text) => text.length <= length && new RegExp(`^${label}$`).test(text),
    allowed: `lower-case letters, digits and dashes, at most ${length}, ${ends}`,
});

/** A DNS subdomain (RFC 1123): the name of any other object, such as a Deployment, a ConfigMap or a Secret. */
export const dnsSubdomain: TextRule = {
    isValid: (text) => text.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`).test(text),
    allowed: `lower-case letters, digits, dashes and dots, at most 253, ${ends}, also between dots`,
};

/**
 * A name of DNS: letters of both cases, also `_`, and a dot at its end. The last part is no number, unlike an address.
 * https://www.rfc-editor.org/rfc/rfc1123#section-2
 */
export const hostName: TextRule = {
    isValid: (text) =>
        text.length <= 254 &&
        !/(?:^|\.)\d+\.?$/.test(text) &&
        /^(?:[a-z0-9_](?:[-a-z0-9_]{0,61}[a-z0-9_])?(?:\.|$))+$/i.test(text),
    allowed: "a host name such as api.example.com, or an address such as 203.0.113.7",
};

/**
 * The Service that a host is, as pods of a namespace look it up: `api`, `api.payments.svc…`. Of `api.payments`, only if
 * that is their namespace: it may as well be a name of the Internet.
 * https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/
 */
export function serviceNamed(host: string, namespace: string): { namespace: string; name: string } | undefined {
    const [name, of = namespace, svc] = host.split(".").filter(Boolean);
    const isService = isIP(host) === 0 && (svc === "svc" || (svc === undefined && of === namespace));
    return isService ? { namespace: of, name: name! } : undefined;
}

/** Whether a pod has ended for good: it has no network, and no policy or Service applies to it any more. */
export const hasEnded = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

/** Whether a pod has not ended, and is not being deleted. */
export const isActive = (pod: Pod): boolean => !pod.metadata?.deletionTimestamp && !hasEnded(pod);

/** Why a pod does not run, in the words of the kubelet or the scheduler, in quotes. Undefined if they say nothing. */
export function whyNotRunning({ status }: Pod): string | undefined {
    const waiting = status?.containerStatuses?.map(({ state }) => state?.waiting).find((one) => one !== undefined);
    const unscheduled = status?.conditions?.find((one) => one.type === "PodScheduled" && one.status === "False");
    const why = waiting?.message ?? waiting?.reason ?? unscheduled?.message;
    return why && quoted(why.replace(/\.$/, ""));
}

/**
 * Whether a pod is ready. One that was evicted may keep the condition of when it ran:
 * https://github.com/kubernetes/kubernetes/issues/124648
 */
export const isReady = (pod: Pod): boolean =>
    !hasEnded(pod) &&
    (pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false);

/** An init container that runs beside the others, from Kubernetes 1.29 on by default: a native sidecar. */
export const isSidecar = ({ restartPolicy }: V1Container): boolean => restartPolicy === "Always";

/** The containers that run as long as their pod. They share its address, so the ports of each are the pod's. */
const lastingIn = ({ spec }: Pod): V1Container[] => [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []).filter(isSidecar),
];

const tcpPorts = (pod: Pod) =>
    lastingIn(pod).flatMap(({ ports = [] }) => ports.filter(({ protocol = "TCP" }) => protocol === "TCP"));

/** The addresses of a pod, of each family one. None if it has none yet. */
export const addressesOf = ({ status }: Pick<Pod, "status">): string[] =>
    (status?.podIPs ?? [{ ip: status?.podIP }]).flatMap(({ ip }) => ip ?? []);

/**
 * The TCP ports that a pod says it has, each once: those that its containers declare, of which one number may have
 * several names and a UDP port beside it; and those of their probes, since nobody has to declare a port:
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#ports
 */
export function tcpPortsOf(pod: Pod): number[] {
    const declared = tcpPorts(pod).map(({ containerPort }) => containerPort);
    return [...new Set([...declared, ...lastingIn(pod).flatMap((container) => probedPorts(pod, container))])];
}

function probedPorts(pod: Pod, { readinessProbe, livenessProbe, startupProbe }: V1Container): number[] {
    return [readinessProbe, livenessProbe, startupProbe].flatMap((probe) => {
        const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? probe?.grpc?.port;
        // Another host than the pod may be probed.
        const host = probe?.httpGet?.host ?? probe?.tcpSocket?.host;
        return port === undefined || host ? [] : (portNumberIn(pod, numberIn(port)) ?? []);
    });
}

/** A port that a client may give as text: Kubernetes takes `8080` for a number. */
const numberIn = (port: number | string) => (/^\d+$/.test(String(port)) ? Number(port) : port);

/**
 * The number of a TCP port in a pod. A name is looked up in each pod, first in its containers, then, from Kubernetes
 * 1.32 on, in its native sidecars: https://github.com/kubernetes/kubernetes/pull/128850
 *
 * @param port the target port of a Service, or the port of a policy
 * @returns undefined if the pod has no port of that name: a Service does not lead there, and a policy allows nothing
 */
export const portNumberIn = (pod: Pod, port: number | string): number | undefined =>
    typeof port === "number" ? port : tcpPorts(pod).find(({ name }) => name === port)?.containerPort;

/** Where a port of a Service leads in its pods: a number, or the name of a port of theirs. */
export const targetPortOf = ({ port, targetPort }: Pick<V1ServicePort, "port" | "targetPort">): number | string =>
    targetPort ?? port;

/** The exit code of a command that the API server ran in a container. Undefined if it succeeded, or did not run. */
export const exitCodeOf = ({ details }: Pick<V1Status, "details">): string | undefined =>
    details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;

/** Id of a container while it runs, else empty: the kubelet keeps that of one that has ended until the next starts. */
export const runningIdOf = ({ containerID, state }: Pick<V1ContainerStatus, "containerID" | "state">): string =>
    state?.terminated || state?.waiting ? "" : (containerID ?? "");

/** Whether the container of that id was killed for memory, or one that came after it. An earlier one does not count. */
export const isKilledForMemory = (
    { containerID, state, lastState }: Pick<V1ContainerStatus, "containerID" | "state" | "lastState">,
    id: string,
): boolean =>
    [state?.terminated, lastState?.terminated].some(
        (ended) => ended?.reason === "OOMKilled" && (containerID !== id || ended.containerID === id),
    );
