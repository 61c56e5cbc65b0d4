/** The text of a kubeconfig with one context, which leads to a server without a login. */
export const kubeconfigOf = (context: string, server: string): string =>
    JSON.stringify({
        clusters: [{ name: context, cluster: { server } }],
        users: [{ name: context, user: {} }],
        contexts: [{ name: context, context: { cluster: context, user: context } }],
        "current-context": context,
    });
