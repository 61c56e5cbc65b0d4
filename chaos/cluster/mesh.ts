/**
 * Labels that keep Istio away from a pod of an experiment, its sidecar and its ambient mode. Else the witness would
 * connect to a proxy and not to the targets, and the deadline Job would never complete, since a sidecar goes on
 * running. Istio's documentation has the first as a label; the annotation of the same name is deprecated
 * (https://istio.io/latest/docs/reference/config/annotations/, https://istio.io/latest/docs/reference/config/labels/).
 */
export const withoutMesh = { "sidecar.istio.io/inject": "false", "istio.io/dataplane-mode": "none" };
