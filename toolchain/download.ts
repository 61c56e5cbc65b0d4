import { proxyFor } from "../chaos/cluster/proxy";

/** Downloads as `fetch` does, and through the environment's proxy. Node's own heeds that from version 24 on. */
export async function download(url: string, options: { method?: "HEAD"; signal: AbortSignal }) {
    const proxy = proxyFor(url);
    if (proxy === undefined) return fetch(url, options);
    const { fetch: fetchThrough, ProxyAgent } = await import("undici");
    return fetchThrough(url, { ...options, dispatcher: new ProxyAgent(proxy) });
}
