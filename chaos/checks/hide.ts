/**
 * Hides secret values in texts that are shown or stored: as they are, without the scheme of a credential (`Bearer …`),
 * and as JSON, URLs, HTML and base64 have them.
 */
export function hiding(secrets: readonly string[]): (text: string) => string {
    const bare = secrets.flatMap((secret) => [secret, secret.replace(/^\S+\s+/, "")]);
    const forms = bare.flatMap((text) => [
        text,
        JSON.stringify(text).slice(1, -1),
        encodeURIComponent(text),
        encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
        ...inHtml(text),
        Buffer.from(text).toString("base64"),
    ]);
    // The longest first: what is left of a longer one would show.
    const hidden = [...new Set(forms)].filter((form) => form !== "").sort((one, other) => other.length - one.length);
    return (text) => hidden.reduce((rest, form) => rest.replaceAll(form, "[secret]"), text);
}

/** With the apostrophe as the common libraries write it. */
const inHtml = (text: string) =>
    ["'", "&#39;", "&#x27;", "&#039;", "&apos;"].map((apostrophe) =>
        text.replace(/[&<>"']/g, (character) => entities[character] ?? apostrophe),
    );
const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
