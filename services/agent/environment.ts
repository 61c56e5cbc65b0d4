import * as z from "zod/mini";
import { logLevel, port, text } from "../shared/environment";

/** The agent's environment, besides what the kubelet sets for callers of the API server. */
export const agentEnvironment = z.object({
    PORT: port(8080),
    LOG_LEVEL: logLevel(),
    /** The node whose containers are discovered. */
    NODE_NAME: text("node-1"),
    /** What the cluster is called, the attribute `k8s.cluster-name`. */
    CLUSTER_NAME: text("local"),
    /** A file with the key that callers have to show. A file and not a variable: those show in `kubectl describe`. */
    KEY_FILE: text("/agent-key/key"),
    /** Where the kubelet puts a pod's account. */
    ACCOUNT_FOLDER: z.prefault(
        text("/var/run/secrets/kubernetes.io/serviceaccount"),
        "/var/run/secrets/kubernetes.io/serviceaccount",
    ),
    KUBERNETES_SERVICE_HOST: text("10.96.0.1"),
    KUBERNETES_SERVICE_PORT: port(443),
});
