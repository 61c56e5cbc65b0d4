import type * as pulumi from "@pulumi/pulumi";

/**
 * Resolves conflicts of server-side apply in favor of the stack. A killed update leaves objects that are not in the
 * stack's state; if the next update changes them, server-side apply reports a conflict with another owner. The
 * namespace is exempt: it decides which stack owns the shop or the agent, and everything else is created after it.
 */
export const forceOwnership: pulumi.ResourceTransformation = ({ type, props, opts }) => {
    if (!type.startsWith("kubernetes:") || type === "kubernetes:core/v1:Namespace") return undefined;
    const { metadata, ...rest } = props as { metadata?: { annotations?: object } };
    const annotations = { ...metadata?.annotations, "pulumi.com/patchForce": "true" };
    return { props: { ...rest, metadata: { ...metadata, annotations } }, opts };
};

interface ProbeTimes {
    periodSeconds: number;
    /** Failures in a row. */
    failureThreshold: number;
    /** @default 2 */
    timeoutSeconds?: number;
}

export const httpProbe = (path: string, times: ProbeTimes, port = "http") => ({
    httpGet: { path, port },
    timeoutSeconds: 2,
    ...times,
});

export const tcpProbe = (port: string, times: ProbeTimes) => ({ tcpSocket: { port }, timeoutSeconds: 2, ...times });

/** Restarts one of this project's programs that does not answer for 30 s. */
export const httpLiveness = httpProbe("/health/liveness", { periodSeconds: 10, failureThreshold: 3 });

/** Restarts a database or broker that accepts no connection for 60 s. */
export const tcpLiveness = (port: string) =>
    tcpProbe(port, { periodSeconds: 10, failureThreshold: 6, timeoutSeconds: 5 });
