/** The text of a kubeconfig with one context, which leads to a server without a login. */
export const kubeconfigOf = (context: string, server: string): string =>
    JSON.stringify({
        clusters: [{ name: "a", cluster: { server } }],
        users: [{ name: "a", user: {} }],
        contexts: [{ name: context, context: { cluster: "a", user: "a" } }],
        "current-context": context,
    });
