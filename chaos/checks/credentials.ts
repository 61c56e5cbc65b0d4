/**
 * Finds credentials in checks: the state and journals show these. The rule is narrow, since nobody can say of a text
 * that it is none: names that carry credentials, and forms that hold them. It does not guess from what looks random.
 */

/** A header or a variable is there for its value, so a part of its name is enough. */
export const carriesCredential = (name: string): boolean =>
    /authorization|cookie|token|secret|passw|api[-_]?key|credential/i.test(name);

/**
 * A field or an option may only speak of a credential: `maxTokens`, `noPassword`. Matches names without their
 * separators, in lower case: `X-Amz-Security-Token`, `clientSecret`, `api_key`.
 */
const credentialName = new RegExp(
    "^(?!no|ask|prompt).*(?:password|passwd|passphrase|secret|apikey|accesskey|secretkey|privatekey|signature)$|" +
        "^(?:x|amz|api|access|auth|bearer|id|private|refresh|security|session|user)*token$|" +
        "^(?:sig|pwd|jwt|authorization|credentials?)$",
);

export const namesCredential = (name: string): boolean =>
    credentialName.test(name.replace(/[-_.\s]/g, "").toLowerCase());

/** How a value begins that is none: a variable or command of a shell, a file, nothing. */
const noValue = "(?![$`\"'\\s/.@&;,}-]|$)";
const urlWithPassword = new RegExp(String.raw`\b[a-z][a-z\d+.-]*://[^\s/?#@:]*:${noValue}[^\s/?#@]+@`, "i");
const scheme = String.raw`(?:basic|bearer|token)\s+`;
const authorization = new RegExp(
    String.raw`\bauthorization["']?\s*[:=]\s*["']?(?:${scheme})?(?!${scheme})${noValue}\S`,
    "i",
);
/** With a digit: of words that follow, few have one. */
const bearer = /\bbearer\s+(?=\S*\d)[\w.~+/=-]{6,}/i;
/** After a colon only what is one word: "Password: how to choose one" has none. */
const value = `(?:=\\s*["']?${noValue}\\S|:\\s*["']?${noValue}[^\\s"',;&}]+["']?\\s*(?:$|[\\n,;&}]))`;
const assigned = new RegExp(String.raw`(?:^|[\s?&;,"'{-])((?!authorization)[a-z][\w.-]*?)["']?\s*${value}`, "gi");
const option = new RegExp(String.raw`(?:^|\s)--?([a-z][\w-]*)\s+["']?${noValue}\S`, "gi");
/** As curl has it. Not a user and a group, by ids or of the same name. */
const userOption = new RegExp(
    String.raw`(?:^|\s)(?:-u|--user)[\s=]*["']?([^\s:$"'-][^\s:$]*):(?!(?:\d+|\1)(?:\s|$))${noValue}\S`,
);

/** Which form of a credential a text has, in words. Undefined if it has none. */
export function credentialIn(text: string, isCredential = namesCredential): string | undefined {
    if (urlWithPassword.test(text)) return "a URL with a password";
    if (authorization.test(text) || bearer.test(text)) return "an authorization";
    const name = [...text.matchAll(assigned)].map(([, name]) => name!).find(isCredential);
    return name && `a value of ${name}`;
}

/** `--secret` names a Secret, and `--signature` a file, more often than they have one. */
const isGivenInClear = (name: string) => namesCredential(name) && !/^-*(?:(?:existing)?secret|signature)$/i.test(name);

/** The same of a program's arguments, which may also follow the names of their options. */
export function credentialInArguments(args: readonly string[]): string | undefined {
    const line = args.join(" ");
    const name = [...line.matchAll(option)].map(([, name]) => name!).find(isGivenInClear);
    if (name) return `a value of ${name}`;
    return userOption.test(line) ? "a user with a password" : credentialIn(line, isGivenInClear);
}

/** Where a value has credentials: the keys and indices that lead there, and what it is. */
export function credentialsWithin(value: unknown, path: readonly string[] = []): { path: string[]; what: string }[] {
    if (typeof value === "object" && value !== null)
        return Object.entries(value).flatMap(([key, inner]) => credentialsWithin(inner, [...path, key]));
    const name = path.at(-1) ?? "";
    const isNamed = namesCredential(name) && ["string", "number"].includes(typeof value) && value !== "";
    const what = isNamed ? `a value of ${name}` : typeof value === "string" ? credentialIn(value) : undefined;
    return what === undefined ? [] : [{ path: [...path], what }];
}

/** The same of a path with its query, whose parameters may be encoded. */
export function credentialInPath(path: string): string | undefined {
    const [, place, query] = /^([^?]*)\??(.*)$/s.exec(path)!;
    const parameters = [...new URLSearchParams(query)].flatMap(([name, value]) => credentialsWithin({ [name]: value }));
    return parameters[0]?.what ?? credentialIn(place!);
}

/**
 * What is wrong with a value that has a credential: completes its place.
 *
 * @param what as `credentialIn` says it @param instead the way that works
 */
export const storedInClear = (what: string, instead: string) =>
    `has ${what}; secrets must not be in a definition: the state and journals show it; ${instead}`;
