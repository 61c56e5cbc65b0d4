/**
 * What the API server's proxy of a Service does not pass on as it was asked: kube-apiserver's `UpgradeAwareHandler`
 * and `rewriteRequestURL` of Go's `ReverseProxy`, which it uses. The query is passed on byte by byte.
 */

/** Headers that its authentication filter takes for its own, or its proxy removes, replaces or adds to. */
const headersNotPassedOn = new RegExp(
    "^(?:authorization|host|impersonate-.*|x-remote-(?:user|uid|group|extra-.*)|x-forwarded-(?:for|host|proto|uri)|" +
        "connection|keep-alive|proxy-(?:authenticate|authorization|connection)|te|trailer|transfer-encoding|upgrade)$",
    "i",
);

/** `proxyMethods` of its subresources. */
const methodsPassedOn = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * What of a request does not arrive as it would by the Service's address. Empty if all does.
 *
 * @param target path and query, as they are sent
 * @returns parts that complete "does not pass on …"
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
        // `ConnectResource` rejects it.
        ...(new URLSearchParams(query).has("dryRun") ? ["the parameter dryRun"] : []),
    ];
}

const ofUpgrade = /^(?:connection|upgrade)$/i;

/** Then it passes on the two headers, and after the answer 101 the connection (`tryUpgrade`). */
const isUpgrade = (headers: Readonly<Record<string, unknown>>) =>
    Object.entries(headers).some(([name, value]) => /^connection$/i.test(name) && /upgrade/i.test(String(value)));

/** It joins the decoded path (`JoinPreservingTrailingSlash`), and Go encodes that again (`URL.EscapedPath`). */
function pathAfterProxy(path: string): string {
    const decoded = path.replace(/%([0-9a-f]{2})/gi, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)));
    return decoded.replace(/\/+/g, "/").replace(/[^\w\-.~$&+,/:;=@]/g, encoded);
}

const encoded = (byte: string) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;

/** The one form of paths that RFC 3986 (6.2.2) calls equivalent. */
const normalized = (path: string) =>
    path.replace(/%[0-9a-f]{2}/gi, (byte) => {
        const character = String.fromCharCode(parseInt(byte.slice(1), 16));
        return /[\w\-.~]/.test(character) ? character : byte.toUpperCase();
    });
