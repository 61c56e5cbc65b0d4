/**
 * A message whose URLs have neither user and password nor parameters that are named like credentials, as those of
 * repositories, databases, proxies and presigned downloads may.
 */
export const withoutCredentials = (message: string): string =>
    message
        .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s"]+@/gi, "$1[hidden]@")
        .replace(
            /([?&][\w.-]*(?:token|key|sig|auth|jwt|passw|pwd|secret|credential)[\w.-]*=)[^&\s"]*[^&\s"']/gi,
            "$1[hidden]",
        );
