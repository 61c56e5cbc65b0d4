/** An element of HTML or SVG. Contents are markup already; attribute values are escaped here. */
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

export function escape(text: string): string {
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
