import type { Hono } from "hono";
import { createApplication, serveGet } from "../shared/application";
import { serveHealth } from "../shared/health";
import type { Log } from "../shared/log";
import { problemResponse } from "../shared/problem";
import { BackendFailure } from "./failure";
import { gatherListing, type Backends } from "./listing";

export interface GatewayArgs {
    backends: Backends;
    /** How long one backend may take in all, in milliseconds. */
    upstreamTimeoutMs: number;
    /** Throws when the gateway can reach nothing at all; see `reachability.ts`. */
    checkReachability: () => Promise<void>;
    log: Log;
}

/** The gateway: `GET /products` lists what all backends offer, or says in a problem document which one failed. */
export function createGateway(args: GatewayArgs): Hono {
    const { log } = args;
    const application = createApplication(log);
    serveHealth(application, log, args.checkReachability);

    serveGet(application, "/products", async (context) => {
        try {
            return context.json(await gatherListing(args.backends, args.upstreamTimeoutMs));
        } catch (error) {
            if (!(error instanceof BackendFailure)) {
                throw error;
            }
            const { backend, kind, message, cause } = error;
            log.warn({ backend, kind, cause: cause instanceof Error ? cause.message : undefined }, message);
            return problemResponse(error.toProblem());
        }
    });
    return application;
}
