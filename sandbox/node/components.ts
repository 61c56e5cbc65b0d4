import { containerd } from "./components/containerd";
import { apiServer, controllerManager, etcd, proxy, sandboxController, scheduler } from "./components/control-plane";
import { kubelet } from "./components/kubelet";
import { networkPolicy } from "./components/network-policy";
import type { NodeLayout } from "./layout";
import { namespaceHolderComponent } from "./namespaces";
import type { PartLocations } from "../parts/locate";
import type { Component } from "./processes";

/** The components of the node, in the order in which to look for a cause. */
export function allComponents(layout: NodeLayout, parts: PartLocations): Component[] {
    return [
        namespaceHolderComponent(layout),
        etcd(layout),
        apiServer(layout, parts),
        controllerManager(layout, parts),
        scheduler(layout, parts),
        containerd(layout),
        kubelet(layout, parts),
        proxy(layout, parts),
        networkPolicy(layout, parts),
        sandboxController(layout, parts),
    ];
}
