/** An element of HTML, SVG or XML. Contents are markup already; attribute values are escaped here. */
export function element(
    name: string,
    attributes: Record<string, string | number>,
    contents: readonly string[] = [],
): string {
    const written = Object.entries(attributes).map(([attribute, value]) => ` ${attribute}="${escape(String(value))}"`);
    return contents.length === 0
        ? `<${name}${written.join("")}/>`
        : `<${name}${written.join("")}>${contents.join("")}</${name}>`;
}

/** Writes each child on its own line. */
export const inLines = (name: string, attributes: Record<string, string | number>, children: readonly string[]) =>
    element(name, attributes, children.length === 0 ? [] : ["\n", ...children.map((child) => `${child}\n`)]);

/**
 * What XML 1.0 cannot contain, such as the escape character of terminal colors or half of a surrogate pair; other
 * control characters; and those that reorder a text.
 */
const notInXml =
    /[^\t\n\r\u0020-\u007e\u00a0-\u200d\u2010-\u2029\u202f-\u2065\u206a-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Escapes a text for the contents or an attribute of an element. What is not allowed there becomes "\uFFFD". */
export function escape(text: string): string {
    return text
        .replace(notInXml, "\uFFFD")
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll('"', "&quot;");
}
