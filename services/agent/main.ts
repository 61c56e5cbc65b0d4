import { readFileSync } from "node:fs";
import { runProgram } from "../shared/program";
import { readerOf } from "./api-server";
import { createAgent } from "./app";
import { Discovery } from "./discovery";
import { agentEnvironment } from "./environment";

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
