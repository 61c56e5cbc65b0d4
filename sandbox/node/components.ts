import { containerd } from "./components/containerd";
import { apiServer, controllerManager, etcd, proxy, sandboxController, scheduler } from "./components/control-plane";
import { kubelet } from "./components/kubelet";
import { networkPolicy } from "./components/network-policy";
import { namespaceHolderComponent } from "./namespaces";
import type { Component } from "./processes";

/** The components of the node, in the order in which to look for a cause. */
export function allComponents(): Component[] {
    return [
        namespaceHolderComponent(),
        etcd(),
        apiServer(),
        controllerManager(),
        scheduler(),
        containerd(),
        kubelet(),
        proxy(),
        networkPolicy(),
        sandboxController(),
    ];
}
