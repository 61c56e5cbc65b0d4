/** Texts in JSON and YAML that may be none. */

/** What a text in JSON says. Undefined if it is none. */
export function parseJson(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/**
 * Why a file in YAML cannot be read, without its text, which may hold a token: the parser's own message quotes lines,
 * and its reason quotes what it does not know, always last.
 */
export function yamlProblem(error: unknown): string {
    const { reason, mark, message } = error as Error & { reason?: string; mark?: { line: number } };
    if (reason === undefined) return message;
    const problem = reason.replace(/(?:: |["!<]).*$/s, "…");
    return mark === undefined ? problem : `${problem} in line ${mark.line + 1}`;
}
