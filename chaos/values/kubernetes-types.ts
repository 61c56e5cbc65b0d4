/**
 * The objects of the Kubernetes API as its JSON has them. The types are those of @kubernetes/client-node, whose code is
 * not used: it makes Dates of times, and calls a rule's `from` `_from`.
 */
import type * as client from "@kubernetes/client-node";

/** What JSON has of a type. */
export type Json<T> = T extends Date
    ? string
    : T extends readonly (infer Item)[]
      ? Json<Item>[]
      : T extends object
        ? { [K in keyof T as K extends `_${infer Name}` ? Name : K]: Json<T[K]> }
        : T;

export type V1APIResource = Json<client.V1APIResource>;
export type V1APIResourceList = Json<client.V1APIResourceList>;
export type V1Condition = Json<client.V1Condition>;
export type V1ConfigMap = Json<client.V1ConfigMap>;
export type V1Container = Json<client.V1Container>;
export type V1ContainerPort = Json<client.V1ContainerPort>;
export type V1ContainerStatus = Json<client.V1ContainerStatus>;
export type V1DaemonSet = Json<client.V1DaemonSet>;
export type V1DaemonSetStatus = Json<client.V1DaemonSetStatus>;
export type V1Deployment = Json<client.V1Deployment>;
export type V1DeploymentSpec = Json<client.V1DeploymentSpec>;
export type V1DeploymentStatus = Json<client.V1DeploymentStatus>;
export type V1EndpointSlice = Json<client.V1EndpointSlice>;
export type V1IPBlock = Json<client.V1IPBlock>;
export type V1Job = Json<client.V1Job>;
export type V1JobCondition = Json<client.V1JobCondition>;
export type V1LabelSelector = Json<client.V1LabelSelector>;
export type V1LabelSelectorRequirement = Json<client.V1LabelSelectorRequirement>;
export type V1Lease = Json<client.V1Lease>;
export type V1ManagedFieldsEntry = Json<client.V1ManagedFieldsEntry>;
export type V1MutatingWebhook = Json<client.V1MutatingWebhook>;
export type V1MutatingWebhookConfiguration = Json<client.V1MutatingWebhookConfiguration>;
export type V1Namespace = Json<client.V1Namespace>;
export type V1NetworkPolicy = Json<client.V1NetworkPolicy>;
export type V1NetworkPolicyPeer = Json<client.V1NetworkPolicyPeer>;
export type V1NetworkPolicyPort = Json<client.V1NetworkPolicyPort>;
export type V1NetworkPolicySpec = Json<client.V1NetworkPolicySpec>;
export type V1Node = Json<client.V1Node>;
export type V1ObjectMeta = Json<client.V1ObjectMeta>;
export type V1OwnerReference = Json<client.V1OwnerReference>;
export type V1Pod = Json<client.V1Pod>;
export type V1PodDisruptionBudget = Json<client.V1PodDisruptionBudget>;
export type V1PodSpec = Json<client.V1PodSpec>;
export type V1ReplicaSet = Json<client.V1ReplicaSet>;
export type V1ResourceAttributes = Json<client.V1ResourceAttributes>;
export type V1ResourceRule = Json<client.V1ResourceRule>;
export type V1Role = Json<client.V1Role>;
export type V1RoleBinding = Json<client.V1RoleBinding>;
export type V1RuleWithOperations = Json<client.V1RuleWithOperations>;
export type V1Secret = Json<client.V1Secret>;
export type V1SelfSubjectAccessReview = Json<client.V1SelfSubjectAccessReview>;
export type V1SelfSubjectRulesReview = Json<client.V1SelfSubjectRulesReview>;
export type V1Service = Json<client.V1Service>;
export type V1ServiceAccount = Json<client.V1ServiceAccount>;
export type V1ServicePort = Json<client.V1ServicePort>;
export type V1ServiceSpec = Json<client.V1ServiceSpec>;
export type V1ServiceStatus = Json<client.V1ServiceStatus>;
export type V1StatefulSet = Json<client.V1StatefulSet>;
export type V1StatefulSetSpec = Json<client.V1StatefulSetSpec>;
export type V1Status = Json<client.V1Status>;
export type V1StorageClass = Json<client.V1StorageClass>;
export type V1ValidatingWebhook = Json<client.V1ValidatingWebhook>;
export type V1ValidatingWebhookConfiguration = Json<client.V1ValidatingWebhookConfiguration>;
export type RbacV1Subject = Json<client.RbacV1Subject>;
export type V1Event = Json<client.CoreV1Event>;

/** What every object has. */
export interface KubeObject {
    apiVersion?: string;
    kind?: string;
    metadata?: V1ObjectMeta;
    spec?: object;
}

/** The types of objects by their kinds. */
interface Kinds {
    ConfigMap: V1ConfigMap;
    DaemonSet: V1DaemonSet;
    Deployment: V1Deployment;
    EndpointSlice: V1EndpointSlice;
    Event: V1Event;
    Job: V1Job;
    Lease: V1Lease;
    MutatingWebhookConfiguration: V1MutatingWebhookConfiguration;
    Namespace: V1Namespace;
    NetworkPolicy: V1NetworkPolicy;
    Node: V1Node;
    Pod: V1Pod;
    PodDisruptionBudget: V1PodDisruptionBudget;
    ReplicaSet: V1ReplicaSet;
    Role: V1Role;
    RoleBinding: V1RoleBinding;
    Secret: V1Secret;
    SelfSubjectAccessReview: V1SelfSubjectAccessReview;
    SelfSubjectRulesReview: V1SelfSubjectRulesReview;
    Service: V1Service;
    ServiceAccount: V1ServiceAccount;
    StatefulSet: V1StatefulSet;
    StorageClass: V1StorageClass;
    ValidatingWebhookConfiguration: V1ValidatingWebhookConfiguration;
}

/** The objects of a kind. */
export type ObjectOf<Kind extends string> = Kind extends keyof Kinds ? Kinds[Kind] : KubeObject;
