import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Through } from "../attacks/kind";
import { annotations, labels } from "../cluster/labels";
import { restrictedContainer, restrictedPod, users, withoutMesh } from "../cluster/pod-security";
import { nodeFlags } from "../proxy/node-flags";
import { podProgram } from "../packed";
import {
    drainMs,
    proxyContainer,
    type ProxyEnvironment,
    type ProxyFault,
    type ProxyPort,
    readyPath,
} from "../proxy/protocol";
import type { Chosen } from "../targets/choose";
import type { Proxied, ProxiedPort } from "../targets/proxied";
import { proxyLabels } from "./pointing";

export interface FaultResourcesArgs {
    through: Through;
    experiment: string;
    namespace: string;
    /** Name of the run. */
    runName: pulumi.Output<string>;
    /** Name of the proxy and of all that it needs: each run has its own. */
    object: pulumi.Output<string>;
    /** Known once the deadline Job watches the targets. */
    chosen: pulumi.Output<Chosen>;
    /** A Node image. */
    image: string;
    /** The proxy's program: the bundle of `proxy/main.ts`. */
    program: string;
}

/** Until a proxy that ends is killed, in seconds. It needs a moment more than it drains. */
const graceSeconds = drainMs / 1_000 + 5;

/**
 * A fault's proxy as resources: its pod, a headless Service that keeps the selector of the Service whose place it
 * takes, and an account that may list where that leads. Nobody uses it until the step `check` points the Service to it.
 *
 * @returns the pod: while it exists, the attack lasts
 */
export function faultResources(
    name: string,
    args: FaultResourcesArgs,
    opts: pulumi.CustomResourceOptions,
): k8s.core.v1.Pod {
    const { experiment, namespace, object, chosen, program } = args;
    const own = { ...opts, deleteBeforeReplace: true };
    const metadata = { name: object, namespace, labels: { [labels.experiment]: experiment } };
    const proxied = chosen.apply((found) => found.proxied!);

    const { binaryData } = podProgram(program);
    const account = new k8s.core.v1.ServiceAccount(`${name}-account`, { metadata }, own);
    const rules = [{ apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] }];
    const role = new k8s.rbac.v1.Role(`${name}-role`, { metadata, rules }, own);
    const binding = new k8s.rbac.v1.RoleBinding(
        `${name}-binding`,
        {
            metadata,
            roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: object },
            subjects: [{ kind: "ServiceAccount", name: object, namespace }],
        },
        // An account that is no administrator may bind only a Role that exists, and whose rights it has.
        { ...own, dependsOn: role },
    );
    const code = new k8s.core.v1.ConfigMap(
        `${name}-program`,
        { metadata, binaryData, immutable: true },
        // Another version of the program would replace the proxy in the middle of a run.
        { ...own, ignoreChanges: ["binaryData"] },
    );
    const pods = new k8s.core.v1.Service(
        `${name}-pods`,
        {
            metadata: { ...metadata, annotations: { "pulumi.com/skipAwait": "true" } },
            spec: proxied.apply(headlessSpec),
        },
        { ...own, ignoreChanges: ["spec"] },
    );
    return new k8s.core.v1.Pod(
        name,
        {
            metadata: {
                ...metadata,
                labels: object.apply((proxy) => ({ ...metadata.labels, ...proxyLabels(proxy), ...withoutMesh })),
                annotations: {
                    // The step `check` waits until it is ready; and its end waits for open connections.
                    "pulumi.com/skipAwait": "true",
                    [annotations.fault]: JSON.stringify(args.through),
                    [annotations.targets]: chosen.apply(({ targets }) => targets.map(({ pod }) => pod).join(",")),
                },
            },
            spec: pulumi.all([object, args.runName, chosen]).apply((known) => podSpec(args, ...known)),
        },
        { ...own, dependsOn: [account, binding, code, pods], ignoreChanges: ["spec"] },
    );
}

/** The Service's own pods, for the proxy alone. */
const headlessSpec = ({ selector, ports, publishNotReadyAddresses }: Proxied) => ({
    clusterIP: "None",
    selector,
    ports: ports.map(({ name, port, target }) => ({ ...(name !== "" && { name }), port, targetPort: target })),
    ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
});

const faultOf = ({ delayMs, abort, percentage }: Through): ProxyFault => ({ delayMs, abort, percentage });

function podSpec(
    { through, namespace, image, program }: FaultResourcesArgs,
    object: string,
    run: string,
    { proxied, targets }: Chosen,
): k8s.types.input.core.v1.PodSpec {
    const { ports, witness = "" } = proxied!;
    // Two of its ports may lead to the same one.
    const listened = [...new Map(ports.map((port) => [port.listen, port])).values()];
    const readyPort = freePort(listened.map(({ listen }) => listen));
    const env: Record<keyof ProxyEnvironment, string> = {
        NAMESPACE: namespace,
        SERVICE: object,
        RUN: run,
        PORTS: JSON.stringify(listened.map(({ name, listen }): ProxyPort => ({ name, listen }))),
        FAULT: JSON.stringify(faultOf(through)),
        TARGETS: JSON.stringify([...new Set(targets.map(({ uid }) => uid))]),
        WITNESS: witness,
        READY_PORT: String(readyPort),
    };
    const isPrivileged = listened.some(({ listen }) => listen < 1_024);
    return {
        restartPolicy: "Never",
        serviceAccountName: object,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: graceSeconds,
        securityContext: {
            ...restrictedPod(users.node),
            // A safe sysctl, which the `restricted` level allows: it listens where the Service's pods do.
            ...(isPrivileged && { sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }] }),
        },
        containers: [
            {
                name: proxyContainer,
                image,
                command: ["node", ...nodeFlags, ...podProgram(program).args],
                env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
                // The Service and policies may know the ports by name.
                ports: containerPorts(ports),
                // Not ready within three seconds of its silence, of the five in which a fault must end.
                readinessProbe: {
                    httpGet: { path: readyPath, port: readyPort },
                    periodSeconds: 1,
                    timeoutSeconds: 1,
                    failureThreshold: 2,
                },
                volumeMounts: podProgram(program).volumeMounts,
                resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "160Mi" } },
                securityContext: restrictedContainer,
            },
        ],
        volumes: [{ name: "program", configMap: { name: object } }],
    };
}

/** The ports that a proxy listens at, each once, and with its name if the Service's pods have one. */
export function containerPorts(ports: readonly ProxiedPort[]) {
    const names = new Map<number, string | undefined>();
    for (const { listen, target } of ports) {
        names.set(listen, names.get(listen) ?? (typeof target === "string" ? target : undefined));
    }
    return [...names].map(([containerPort, name]) => ({ containerPort, ...(name !== undefined && { name }) }));
}

/** A port for the readiness probe. */
const freePort = (taken: readonly number[]): number => [8_086, 18_086, 28_086].find((one) => !taken.includes(one))!;
