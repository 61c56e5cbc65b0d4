import { carriesCredential } from "./credentials";

/**
 * A message whose URLs have neither user and password nor parameters that are named like credentials, as those of
 * repositories, databases, proxies and presigned downloads may.
 */
export const withoutCredentials = (message: string): string =>
    message
        .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s"]+@/gi, "$1[hidden]@")
        .replace(/([?&])([\w.-]+)=[^&\s"]*[^&\s"']/g, (all, before: string, name: string) =>
            // In a URL any key or signature may be one.
            carriesCredential(name) || /key|sig|auth|pwd/i.test(name) ? `${before}${name}=[hidden]` : all,
        );
