import { readFileSync } from "node:fs";
import { readEnvironment } from "../shared/environment";
import { createLog } from "../shared/log";
import { runProgram } from "../shared/program";
import { apiServerOfPod } from "./apiServer";
import { createAgent } from "./app";
import { Discovery } from "./discovery";
import { agentEnvironment } from "./environment";

runProgram("agent", () => {
    const environment = readEnvironment(agentEnvironment);
    const log = createLog("agent", environment.LOG_LEVEL).child({ node: environment.NODE_NAME });
    const api = apiServerOfPod(
        environment.KUBERNETES_SERVICE_HOST,
        environment.KUBERNETES_SERVICE_PORT,
        environment.ACCOUNT_FOLDER,
    );
    const discovery = new Discovery({ api, node: environment.NODE_NAME, clusterName: environment.CLUSTER_NAME, log });
    void discovery.run();
    const application = createAgent({ discovery, key: readFileSync(environment.KEY_FILE, "utf8"), log });
    return { application, port: environment.PORT, log, close: async () => discovery.stop() };
});
