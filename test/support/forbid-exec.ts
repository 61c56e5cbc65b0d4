import { ignoreNotFound, type TypedCluster as Cluster } from "./typed-cluster";

/**
 * Has an admission policy refuse commands in the pods of a namespace, also to accounts with the right to run them. It
 * takes effect a moment later.
 *
 * @param name of the policy. A test's begins with `e2e-`
 * @returns what ends that
 */
export async function forbidExec(
    { admission }: Cluster,
    namespace: string,
    { name, message }: { name: string; message: string },
): Promise<{ allow: () => Promise<void> }> {
    const exec = { apiGroups: [""], apiVersions: ["v1"], resources: ["pods/exec"], operations: ["CONNECT"] };
    const validations = [{ expression: "false", message, reason: "Forbidden" }];
    const spec = { matchConstraints: { resourceRules: [exec] }, validations };
    const matchResources = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
    const binding = { policyName: name, validationActions: ["Deny"], matchResources };
    const allow = async () => {
        await ignoreNotFound(admission.deleteValidatingAdmissionPolicyBinding({ name }));
        await ignoreNotFound(admission.deleteValidatingAdmissionPolicy({ name }));
    };
    try {
        await admission.createValidatingAdmissionPolicy({ body: { metadata: { name }, spec } });
        await admission.createValidatingAdmissionPolicyBinding({ body: { metadata: { name }, spec: binding } });
    } catch (error) {
        await allow();
        throw error;
    }
    return { allow };
}
