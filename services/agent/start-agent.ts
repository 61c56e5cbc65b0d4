import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { logLevel, port, text, textOr } from "../shared/environment";
import { runProgram } from "../shared/program";
import { createAgent } from "./agent-app";
import { Discovery, readerOf } from "./discovery";

/** The agent's environment. The kubelet sets `KUBERNETES_SERVICE_*`. */
const agentEnvironment = z.object({
    PORT: port(8080),
    LOG_LEVEL: logLevel(),
    /** The node whose containers the agent lists. */
    NODE_NAME: text("node-1"),
    /** The cluster's name, the attribute `k8s.cluster-name`. */
    CLUSTER_NAME: text("local"),
    /** File with the key that callers must send. Not a variable, which `kubectl describe` would show. */
    KEY_FILE: text("/agent-key/key"),
    /** Folder with the ServiceAccount's token and `ca.crt`. */
    ACCOUNT_FOLDER: textOr("/var/run/secrets/kubernetes.io/serviceaccount"),
    KUBERNETES_SERVICE_HOST: text("10.96.0.1"),
    KUBERNETES_SERVICE_PORT: port(443),
});

runProgram("agent", agentEnvironment, (environment, programLog) => {
    const log = programLog.child({ node: environment.NODE_NAME });
    const api = readerOf({
        host: environment.KUBERNETES_SERVICE_HOST,
        port: environment.KUBERNETES_SERVICE_PORT,
        account: environment.ACCOUNT_FOLDER,
    });
    const discovery = new Discovery({ api, node: environment.NODE_NAME, clusterName: environment.CLUSTER_NAME, log });
    void discovery.run();
    const application = createAgent({ discovery, key: readFileSync(environment.KEY_FILE, "utf8"), log });
    return { application, log, close: async () => discovery.stop() };
});
