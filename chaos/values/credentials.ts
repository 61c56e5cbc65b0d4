/**
 * Finds credentials in what a person writes, and hides them in what a program says. The rule is narrow, because people
 * cannot override it: names that carry credentials, and forms that contain them. What looks random is not enough.
 */

/** Keys of these are credentials. A `primaryKey`, a `publicKey` or an `Idempotency-Key` is not. */
const keyOf =
    "access|account|admin|api|app|application|auth|client|consumer|deploy|encryption|functions|license|master|" +
    "private|project|secret|service|shared|signing|ssh|storage|subscription|user|webhook";
/**
 * The one list of names that carry credentials, in lower case without separators: `X-Amz-Signature`, `clientSecret`,
 * `Ocp-Apim-Subscription-Key`, `PGPASSWORD`, `X-Session-Id`.
 */
const name = `authorization|credentials?|jwt|passphrase|passw(?:or)?d|secret|sess(?:ion)?id|signature|(?:${keyOf})key`;
/** Whole names: as parts of other names, these have other meanings. */
const shortName =
    "(?:x|http)?(?:(?:basic|internal|proxy|sentry|user)?(?:auth|pass)|" +
    "authentication|bearer|dpop|hmac|honeycombteam|otp|pin|psk|pwd|session|sid|sig|ticket)";
/** Some names that end in `key` carry no credential: `Idempotency-Key`, `Sec-WebSocket-Key`, `CHAOS_MONKEY`. */
const harmlessKeyOf =
    "cache|dedup|deduplication|foreign|group|hash|idempotency|message|mon|object|order|partition|primary|public|" +
    "range|record|routing|row|shard|sort|surrogate|websocket";

const withoutSeparators = (name: string) => name.replace(/[-_.\s]/g, "").toLowerCase();

const inHeader = new RegExp(`${name}|cookie|passw|token|(?<!${harmlessKeyOf})key$|^${shortName}$`);
const inField = new RegExp(
    `^(?!no|ask|prompt).*(?:${name})$|` +
        "^(?:x|amz|api|access|auth|bearer|id|private|refresh|security|session|user)*token$|^(?:x?sig|pwd)$",
);

/** A header or a variable exists for its value, so a part of its name is enough. */
export const carriesCredential = (name: string): boolean => inHeader.test(withoutSeparators(name));

/** A field, a parameter, an option or a setting may only be about a credential: `maxTokens`, `noPassword`. */
export const namesCredential = (name: string): boolean => inField.test(withoutSeparators(name));

/** What a name carries, in words. A value that was written into the name is not repeated. */
export const describeValueOf = (name: string): string => `a value of ${name.replace(/[\s:=].*$/s, "")}`;

/** A value that begins so is no credential: a variable or a command of a shell, a file, nothing. */
const noValue = "(?![$`\"'\\s/.@&;,}-]|$)";
const urlWithPassword = new RegExp(String.raw`\b[a-z][a-z\d+.-]*://[^\s/?#@:]*:${noValue}[^\s/?#@]+@`, "i");
const scheme = String.raw`(?:basic|bearer|token)\s+`;
const authorization = new RegExp(
    String.raw`\bauthorization["']?\s*[:=]\s*["']?(?:${scheme})?(?!${scheme})${noValue}\S`,
    "i",
);
/** A digit is required, since ordinary words after "bearer" rarely have one. */
const bearer = /\bbearer\s+(?=\S*\d)[\w.~+/=-]{6,}/i;
/** After a colon, only a single word counts: "Password: how to choose one" has no credential. */
const value = `(?:=\\s*["']?${noValue}\\S|:\\s*["']?${noValue}[^\\s"',;&}]+["']?\\s*(?:$|[\\n,;&}]))`;
const assigned = new RegExp(String.raw`(?:^|[\s?&;,"'{-])((?!authorization)[a-z][\w.-]*?)["']?\s*${value}`, "gi");
const option = new RegExp(String.raw`(?:^|\s)--?([a-z][\w-]*)\s+["']?${noValue}\S`, "gi");
/** The option of curl. A user and a group, by ids or with the same name, is no credential. */
const userOption = new RegExp(
    String.raw`(?:^|\s)(?:-u|--user)[\s=]*["']?([^\s:$"'-][^\s:$]*):(?!(?:\d+|\1)(?:\s|$))${noValue}\S`,
);

/** Which form of a credential a text has, in words. */
export function credentialIn(text: string, isCredential = namesCredential): string | undefined {
    if (urlWithPassword.test(text)) return "a URL with a password";
    if (authorization.test(text) || bearer.test(text)) return "an authorization";
    const name = [...text.matchAll(assigned)].map(([, name]) => name!).find(isCredential);
    return name && describeValueOf(name);
}

/** `--secret` mostly names a Secret, and `--signature` a file. */
const isGivenInClear = (name: string) => namesCredential(name) && !/^-*(?:(?:existing)?secret|signature)$/i.test(name);

/** The same for a program's arguments, where a credential may also follow the name of its option. */
export function credentialInArguments(args: readonly string[]): string | undefined {
    const line = args.join(" ");
    const name = [...line.matchAll(option)].map(([, name]) => name!).find(isGivenInClear);
    if (name) return describeValueOf(name);
    return userOption.test(line) ? "a user with a password" : credentialIn(line, isGivenInClear);
}

/** Where a value has credentials, by keys and indices, and what they are. */
export function credentialsWithin(value: unknown, path: readonly string[] = []): { path: string[]; what: string }[] {
    if (typeof value === "object" && value !== null)
        return Object.entries(value).flatMap(([key, inner]) => credentialsWithin(inner, [...path, key]));
    const name = path.at(-1) ?? "";
    const isNamed = namesCredential(name) && ["string", "number"].includes(typeof value) && value !== "";
    const what = isNamed ? describeValueOf(name) : typeof value === "string" ? credentialIn(value) : undefined;
    return what === undefined ? [] : [{ path: [...path], what }];
}

/** In some addresses these parameters are credentials, and in others a word or a number. */
const mayBeCredential = /^(?:auth|code|hmac|key|pass|sas|session)$/i;
const looksRandom = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{20,}$/i;

/** The same for a path with its query, whose parameters may be encoded. */
export function credentialInPath(path: string): string | undefined {
    const [, place, query] = /^([^?]*)\??(.*)$/s.exec(path)!;
    const parameters = [...new URLSearchParams(query)].flatMap(([name, value]) =>
        mayBeCredential.test(name) && looksRandom.test(value)
            ? describeValueOf(name)
            : credentialsWithin({ [name]: value }).map(({ what }) => what),
    );
    return parameters[0] ?? credentialIn(place!);
}

/**
 * Says what is wrong with a value that has a credential: completes the value's place.
 *
 * @param what as `credentialIn` says it
 * @param instead what to do
 */
export const storedInClear = (what: string, instead: string) =>
    `has ${what}; secrets must not be in a definition: the state and journals show it; ${instead}`;

const passwordInUrl = /\b([a-z][a-z\d+.-]*:\/\/)[^/\s"]+@/gi;
const authorizationValue = /\b((?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi;
/** After a colon, there may also be words: "token: expired". */
const assignment = `["']?\\s*=\\s*["']?|["']\\s*:\\s*["']?|\\s*:\\s*(?:["']|(?=\\S*\\d)(?=\\S{6}))`;
const namedValue = new RegExp(`([a-z][\\w.-]*)(${assignment})([^\\s"'&,;]*[^\\s"'&,;:.])`, "gi");
/** Tokens and their parts are as long, also in Base64. UUIDs, which errors often contain, are shorter. */
const longWord = /[\w+/=-]{40,}/g;

/** Hides what may be a credential in a text of another program, such as an error. */
export const withoutCredentials = (text: string): string =>
    text
        .replace(passwordInUrl, "$1[hidden]@")
        .replace(authorizationValue, "$1[hidden]")
        .replace(namedValue, (all, name: string, assigned: string) =>
            namesCredential(name) ? `${name}${assigned}[hidden]` : all,
        )
        .replace(longWord, "[hidden]");
