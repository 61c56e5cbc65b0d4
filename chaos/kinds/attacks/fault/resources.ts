import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { annotations, labels, metadataFor } from "../../../cluster/labels";
import { restrictedContainer } from "../../../pods/pod-security";
import { podProgram } from "../../../pods/packed";
import { runPod } from "../../../pods/pod-options";
import { podResources } from "../../../pods/pod-resources";
import {
    drainMs,
    nodeFlags,
    proxyContainer,
    type ProxyEnvironment,
    type ProxyFault,
    type ProxyPort,
    readyPath,
} from "./proxy/protocol";
import type { Chosen } from "../../../targets/choose";
import { type AttackResourceArgs, type DryRun, type DryRunArgs, witnessPorts } from "../attack-kind";
import { type FaultAttack, faultOf } from "./fault-attack";
import type { FoundService } from "./find";
import { containerPorts } from "./listeners";
import { proxyLabels, witnessNameOf } from "./pointing";
import { effectOf } from "./words";

/**
 * How long a proxy that ends is left running, in seconds. It serves callers for an hour while their Service cannot be
 * restored, since upgrades of nodes often wait no longer; then it drains. Usually it ends before.
 */
const graceSeconds = 3_600 + drainMs / 1_000 + 5;

/**
 * A fault's proxy as resources: its pod, a headless Service that keeps the selector of the Service whose place it
 * takes, another that selects the witness, and an account that may list where these lead. No caller reaches it until
 * the step `check` points the Service to it.
 * @returns the pod: while it exists, the attack lasts
 */
export function faultResources(
    name: string,
    args: AttackResourceArgs<FaultAttack>,
    opts: pulumi.CustomResourceOptions,
): k8s.core.v1.Pod {
    const { experiment, namespace, object, chosen, metadata } = args;
    const rules = [{ apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] }];
    const wanted = { object, namespace, experiment, rules, program: args.programs.proxy };
    const { metadata: ofParts, account, binding, program } = podResources(name, wanted, opts);
    const pods = new k8s.core.v1.Service(
        `${name}-pods`,
        {
            metadata: { ...ofParts, annotations: unawaited },
            spec: chosen.apply(({ found }) => headlessSpec(found as FoundService)),
        },
        { ...opts, ignoreChanges: ["spec"] },
    );
    const witness = new k8s.core.v1.Service(
        `${name}-witness`,
        {
            metadata: { ...ofParts, name: object.apply(witnessNameOf), annotations: unawaited },
            // It waits for the targets, because their choice removes what a killed run has left, and would remove this,
            // too.
            spec: pulumi.all([args.pass, chosen]).apply(([pass]) => witnessSpec(experiment, pass)),
        },
        { ...opts, ignoreChanges: ["spec"] },
    );
    const own = proxyMetadata(args);
    return new k8s.core.v1.Pod(
        name,
        {
            metadata: {
                ...metadata,
                labels: pulumi.all([object, args.pass]).apply((known) => own.labels(...known)),
                annotations: { ...metadata.annotations, ...own.annotations },
            },
            spec: pulumi.all([object, args.runName, args.pass, chosen]).apply((known) => podSpec(args, ...known)),
        },
        { ...opts, dependsOn: [account, binding, program, pods, witness], ignoreChanges: ["spec"] },
    );
}

/** The objects of a fault, as far as they are known before the run has looked at its Service. */
export function faultDryRuns(name: string, args: DryRunArgs<FaultAttack>): DryRun[] {
    const { attack, object, run, pass } = args;
    const ports = [{ name: "", port: 80, target: 8_080, listen: 8_080 }];
    const found: FoundService = { service: attack.service, selector: {}, ports, pods: [] };
    const metadata = metadataFor(object, args);
    const own = proxyMetadata(args);
    const ofProxy = { ...metadata, labels: own.labels(object, pass), annotations: own.annotations };
    const chosen: Chosen = { name: attack.kind, targets: [], matching: 0, found };
    return [
        {
            kind: "Service",
            name: `${name}-pods`,
            props: { metadata: { ...metadata, annotations: unawaited }, spec: headlessSpec(found) },
        },
        {
            kind: "Service",
            name: `${name}-witness`,
            props: {
                metadata: { ...metadata, name: witnessNameOf(object), annotations: unawaited },
                spec: witnessSpec(args.experiment, pass),
            },
        },
        { kind: "Pod", name, props: { metadata: ofProxy, spec: podSpec(args, object, run, pass, chosen) } },
    ];
}

type Made = Pick<DryRunArgs<FaultAttack>, "attack" | "experiment" | "namespace" | "image" | "programs" | "pod">;

/** Pulumi need not wait: the step `check` waits until the proxy is ready, and the proxy's end waits for connections. */
const unawaited = { "pulumi.com/skipAwait": "true" };

function proxyMetadata({ attack, experiment, pod }: Made) {
    const common = runPod(pod);
    return {
        labels: (proxy: string, pass: string) => ({
            [labels.experiment]: experiment,
            ...common.labels,
            ...proxyLabels(proxy),
            [labels.pass]: pass,
        }),
        annotations: {
            ...common.annotations,
            ...unawaited,
            [annotations.effect]: effectOf(faultOf(attack)),
        },
    };
}

/** It leads to the Service's own pods, for the proxy alone. */
const headlessSpec = ({ selector, ports, publishNotReadyAddresses, family }: FoundService) => ({
    clusterIP: "None",
    selector,
    ...(family !== undefined && { ipFamilies: [family] }),
    ports: ports.map(({ name, port, target }) => ({ ...(name !== "" && { name }), port, targetPort: target })),
    ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
});

/**
 * It leads to the run's own pods: the witness as it is now, and proxies, which do not connect to Services. The proxy
 * may not list pods, and an address that it was given once may belong to another pod later.
 */
const witnessSpec = (experiment: string, pass: string) => ({
    clusterIP: "None",
    ipFamilyPolicy: "PreferDualStack",
    selector: { [labels.experiment]: experiment, [labels.pass]: pass },
    // The witness must be known before it is ready.
    publishNotReadyAddresses: true,
    ports: [{ port: witnessPorts[0], targetPort: witnessPorts[0] }],
});

function podSpec(
    { attack, namespace, image, programs, pod }: Made,
    object: string,
    run: string,
    pass: string,
    { found, targets }: Chosen,
) {
    const { ports } = found as FoundService;
    const { spec } = runPod(pod);
    const { service, ...fault } = faultOf(attack);
    // Two ports of the Service may lead to the same one in every pod.
    const listened = [...new Map(ports.map((port) => [port.listen, port])).values()];
    const readyPort = freePort(listened.map(({ listen }) => listen));
    const env: Record<keyof ProxyEnvironment, string> = {
        NAMESPACE: namespace,
        SERVICE: object,
        FAULTED: service,
        RUN: run,
        PASS: pass,
        PORTS: JSON.stringify(listened.map(({ name, listen }): ProxyPort => ({ name, listen }))),
        FAULT: JSON.stringify(fault satisfies ProxyFault),
        TARGETS: JSON.stringify([...new Set(targets.map(({ uid }) => uid))]),
        WITNESS: witnessNameOf(object),
        READY_PORT: String(readyPort),
    };
    const isPrivileged = listened.some(({ listen }) => listen < 1_024);
    return {
        ...spec,
        // Without a restart, one crash would cut off the Service's callers until the deadline Job restores the Service.
        restartPolicy: "Always",
        serviceAccountName: object,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: graceSeconds,
        securityContext: {
            ...spec.securityContext,
            // This sysctl is safe by the `restricted` level, and lets the proxy listen where the Service's pods do.
            ...(isPrivileged && { sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }] }),
        },
        containers: [
            {
                name: proxyContainer,
                image,
                command: ["node", ...nodeFlags, ...podProgram(programs.proxy).args],
                env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
                ports: containerPorts(ports),
                // A silent proxy is not ready within three of the five seconds in which a fault must end.
                readinessProbe: {
                    httpGet: { path: readyPath, port: readyPort },
                    periodSeconds: 1,
                    timeoutSeconds: 1,
                    failureThreshold: 2,
                },
                volumeMounts: podProgram(programs.proxy).volumeMounts,
                resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { cpu: "1", memory: "160Mi" } },
                securityContext: restrictedContainer,
            },
        ],
        volumes: [{ name: "program", configMap: { name: object } }],
    };
}

const freePort = (taken: readonly number[]): number => [8_086, 18_086, 28_086].find((one) => !taken.includes(one))!;
