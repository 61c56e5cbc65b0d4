/** Matches a text that contains these parts in this order, with anything between them. */
export function inOrder(...parts: (string | RegExp)[]): RegExp {
    const sources = parts.map((part) =>
        typeof part === "string" ? part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&") : part.source,
    );
    return new RegExp(sources.join(".*"), "s");
}
