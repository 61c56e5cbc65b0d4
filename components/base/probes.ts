/** Restarts one of this project's programs that does not answer for 30 s. */
export const httpLiveness = {
    httpGet: { path: "/health/liveness", port: "http" },
    periodSeconds: 10,
    timeoutSeconds: 2,
    failureThreshold: 3,
};

/** Restarts a database or broker that accepts no connection for 60 s. */
export const tcpLiveness = (port: string) => ({
    tcpSocket: { port },
    periodSeconds: 10,
    timeoutSeconds: 5,
    failureThreshold: 6,
});
