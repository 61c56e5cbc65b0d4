import { runProgram } from "../shared/program";
import { createGateway, gatewayEnvironment } from "./gateway-app";
import { systemDns } from "./names";
import { servePage } from "./page";
import { createReachability } from "./reachability";

runProgram("gateway", gatewayEnvironment, (environment, log) => {
    const backends = {
        fashion: { name: "fashion-bestseller", url: environment.FASHION_URL },
        toys: { name: "toys-bestseller", url: environment.TOYS_URL },
        hotDeals: { name: "hot-deals", url: environment.HOT_DEALS_URL },
    };
    const dns = systemDns();
    const urls = Object.values(backends).map(({ url }) => url);
    const application = createGateway({
        backends,
        ordersUrl: environment.ORDERS_URL,
        upstreamTimeoutMs: environment.UPSTREAM_TIMEOUT_MS,
        dns,
        checkReachability: createReachability(urls, dns),
        log,
    });
    servePage(application);
    return { application };
});
