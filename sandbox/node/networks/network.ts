import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import type { KubernetesObject } from "../api";
import { type DeniedTraffic, perFamily } from "../choices";
import type { SandboxNode } from "../nodes";
import type { Component } from "../processes";

/** What connects pods and enforces their policies, as components and `up` use it. */
export interface Network {
    /** The program that enforces policies, one on each node. */
    enforcer(node: SandboxNode, denied: DeniedTraffic): Component;
    /** The CNI plugin that makes a pod's interface: its entry in the list of plugins. */
    cniEntry(node: SandboxNode): object;
    /** Executables of plugins besides those of the distribution: type to path. */
    cniPrograms(): Readonly<Record<string, string>>;
    /** Folders outside the cache that its programs write to. In a node's mount namespace an empty one covers each. */
    readonly coveredFolders: readonly string[];
    /** Further commands of the shell that makes a node's mount namespace. */
    mountCommands(node: SandboxNode): readonly string[];
    /** The API group of the kinds that it defines. */
    readonly apiGroup?: string;
    /** Paths of collections that a run fills, and that are emptied before the next. */
    readonly ofOneRun?: readonly string[];
    /** Objects that must be in the cluster before its enforcer starts. CustomResourceDefinitions come first. */
    objects(): readonly KubernetesObject[];
    /** What its enforcer and plugin may do in the cluster besides reading pods, Services and policies. */
    readonly rights: readonly object[];
    /** Prepares a node that is registered, before the enforcer starts. May be called again. */
    prepare(node: SandboxNode): Promise<void>;
    /** Whether the enforcer has programmed the policies that there are. */
    isReady(node: SandboxNode, denied: DeniedTraffic): Promise<boolean>;
}

/**
 * A command of {@link Network.mountCommands}: a node's own file system of BPF maps and programs, which ends with its
 * namespace. That of this machine may belong to another network.
 */
export const ownBpf = "mount -t bpf bpf /sys/fs/bpf";

/** The plugin that gives a pod its addresses. Used by plugins that leave this to another one. */
export function hostLocalAddresses({ folders, podRange, podRangeIpv6 }: SandboxNode) {
    return {
        type: "host-local",
        dataDir: folders.podAddresses,
        ranges: perFamily([{ subnet: podRange }], [{ subnet: podRangeIpv6 }]),
        routes: perFamily({ dst: "0.0.0.0/0" }, { dst: "::/0" }),
    };
}

/** The objects of the YAML files in a folder and those below it. */
export function crdsIn(folder: string): KubernetesObject[] {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".yaml"))
        .sort()
        .flatMap((file) => loadAll(readFileSync(join(folder, file), "utf8")) as KubernetesObject[]);
}
