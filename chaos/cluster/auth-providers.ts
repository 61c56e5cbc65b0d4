/** The auth-providers of kubeconfigs: oidc, and those that run a program. Newer versions of kubectl have plugins. */
import { exec } from "node:child_process";
import { promisify } from "node:util";
import { parseJson } from "../values/json";

export interface AuthProvider {
    name: string;
    config?: Config;
}

type Config = Record<string, string>;

const providers: Record<string, (config: Config) => Promise<string | undefined>> = {
    azure: byProgram,
    gcp: byProgram,
    oidc: byRefresh,
};

export const isSupported = ({ name }: AuthProvider): boolean => Object.hasOwn(providers, name);

/** The token that a provider gives. Undefined if it has none. It keeps what it has got for this process. */
export const tokenOf = ({ name, config }: AuthProvider): Promise<string | undefined> => providers[name]!(config ?? {});

/** The token in the kubeconfig, or, once that has expired, what a program prints. */
async function byProgram(config: Config): Promise<string | undefined> {
    const { expiry, "expires-on": expiresOn, "access-token": token } = config;
    const until = expiry ? Date.parse(expiry) : expiresOn ? Number(expiresOn) * 1_000 : Infinity;
    if (token && !(until < Date.now())) return token;
    const { "cmd-path": program, "cmd-args": args = "", "token-key": key = "", "expiry-key": expiryKey = "" } = config;
    if (!program) throw new Error("Token is expired!");
    const { stdout } = await promisify(exec)(`"${program}" ${args}`).catch((error: Error) => {
        throw new Error(`Failed to refresh token: ${error.message}`);
    });
    const printed = parseJson(stdout);
    config["access-token"] = valueAt(printed, key);
    config.expiry = valueAt(printed, expiryKey);
    delete config["expires-on"];
    return config["access-token"];
}

/** The text to which a path such as `{.credential.access_token}` leads. Empty if there is none. */
function valueAt(object: unknown, path: string): string {
    const keys = path.slice(1, -1).split(".").filter(Boolean);
    const found = keys.reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], object);
    return typeof found === "string" ? found : "";
}

/** The token in the kubeconfig, or, once that has expired, another one for its refresh token (RFC 6749, section 6). */
async function byRefresh(config: Config): Promise<string | undefined> {
    const { "id-token": token, "client-id": client, "client-secret": secret, "idp-issuer-url": issuer } = config;
    const { "refresh-token": refreshToken } = config;
    if (!token) return undefined;
    const [, payload = ""] = token.split(".");
    const { exp = 0 } = (parseJson(Buffer.from(payload, "base64url").toString()) ?? {}) as { exp?: number };
    if (Date.now() / 1_000 <= exp) return token;
    if (!client || !refreshToken || !issuer) return undefined;
    const discovered = await answerOf(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const endpoint = String(discovered.token_endpoint);
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken, client_id: client });
    if (secret) body.set("client_secret", secret);
    const given = await answerOf(endpoint, { method: "POST", body });
    if (typeof given.id_token !== "string") throw new Error(`${endpoint} gives no id_token for the refresh token`);
    config["id-token"] = given.id_token;
    if (typeof given.refresh_token === "string") config["refresh-token"] = given.refresh_token;
    return given.id_token;
}

const timeoutMs = 30_000;

/** @throws Error without what was sent */
async function answerOf(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    if (!url.startsWith("https:")) throw new Error(`the issuer of tokens must be asked by https, not at ${url}`);
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`${url} answers with status ${response.status}`);
    return (await response.json()) as Record<string, unknown>;
}
