/**
 * A message whose URLs have neither user and password nor parameters that are named like credentials, as those of
 * repositories, databases, proxies and presigned downloads may.
 */
export const withoutCredentials = (message: string): string =>
    message
        .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s"']+@/gi, "$1[hidden]@")
        .replace(
            /([?&][\w.-]*(?:token|key|sig|signature|passw\w*|secret|credential)[\w.-]*=)[^&\s"']+/gi,
            "$1[hidden]",
        );
