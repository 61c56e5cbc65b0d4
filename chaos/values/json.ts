/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/**
 * Why a file is not YAML, without its text, which may contain a token: the parser's message quotes lines, and its
 * reason ends with a quote of what it does not know.
 */
export function yamlProblem(error: unknown): string {
    const { reason, mark, message } = error as Error & { reason?: string; mark?: { line: number } };
    if (reason === undefined) return message;
    const problem = reason.replace(/(?:: |["!<]).*$/s, "…");
    return mark === undefined ? problem : `${problem} in line ${mark.line + 1}`;
}
