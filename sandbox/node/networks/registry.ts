import { choices, type NetworkName } from "../choices";
import { calico } from "./calico";
import { cilium } from "./cilium";
import { kubeRouter } from "./kube-router";
import type { Network } from "./network";

export const networks: Readonly<Record<NetworkName, Network>> = { "kube-router": kubeRouter, calico, cilium };

export const currentNetwork = () => networks[choices().network];
