/**
 * What the API server's proxy of a Service changes of a request, by kube-apiserver's `UpgradeAwareHandler` and by
 * `rewriteRequestURL` of Go's `ReverseProxy`. The query is passed on byte by byte.
 */

/** The API server's authentication takes these headers for its own, or its proxy removes, replaces or extends them. */
const headersNotPassedOn = new RegExp(
    "^(?:authorization|host|impersonate-.*|x-remote-(?:user|uid|group|extra-.*)|x-forwarded-(?:for|host|proto|uri)|" +
        "connection|keep-alive|proxy-(?:authenticate|authorization|connection)|te|trailer|transfer-encoding|upgrade)$",
    "i",
);

/** See `proxyMethods` of kube-apiserver's subresources. */
const methodsPassedOn = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * What of a request does not arrive as it would at the Service's address, in parts that complete "does not pass on …".
 * @param target path and query, as they are sent
 */
export function notPassedOn(target: string, headers: Readonly<Record<string, unknown>>, method = "GET"): string[] {
    const [, path, query] = /^([^?]*)(?:\?(.*))?$/s.exec(target)!;
    const arrives = pathAfterProxy(path!);
    return [
        ...(methodsPassedOn.includes(method) ? [] : [`the method ${method}`]),
        ...Object.keys(headers)
            .filter((name) => headersNotPassedOn.test(name) && !(isUpgrade(headers) && ofUpgrade.test(name)))
            .map((name) => `the header ${name}`),
        ...(arrives === normalized(path!) ? [] : [`the path ${path}, which would arrive as ${arrives}`]),
        ...(query === "" ? ["an empty query"] : []),
        // `ConnectResource` rejects this parameter.
        ...(new URLSearchParams(query).has("dryRun") ? ["the parameter dryRun"] : []),
    ];
}

const ofUpgrade = /^(?:connection|upgrade)$/i;

/** Then the proxy passes on the two headers, and after the answer 101 the connection (`tryUpgrade`). */
const isUpgrade = (headers: Readonly<Record<string, unknown>>) =>
    Object.entries(headers).some(([name, value]) => /^connection$/i.test(name) && /upgrade/i.test(String(value)));

/** The proxy joins the decoded path (`JoinPreservingTrailingSlash`), and Go encodes it again (`URL.EscapedPath`). */
function pathAfterProxy(path: string): string {
    const decoded = path.replace(/%([0-9a-f]{2})/gi, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)));
    return decoded.replace(/\/+/g, "/").replace(/[^\w\-.~$&+,/:;=@]/g, encoded);
}

const encoded = (byte: string) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;

/** Equivalent paths (RFC 3986, 6.2.2) have one form. */
const normalized = (path: string) =>
    path.replace(/%[0-9a-f]{2}/gi, (byte) => {
        const character = String.fromCharCode(parseInt(byte.slice(1), 16));
        return /[\w\-.~]/.test(character) ? character : byte.toUpperCase();
    });
