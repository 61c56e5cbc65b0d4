/**
 * Hides secret values in texts that are shown or stored: as they are, without the scheme of a credential (`Bearer …`),
 * and as JSON, URLs and base64 have them.
 */
export function hiding(secrets: readonly string[]): (text: string) => string {
    const bare = secrets.flatMap((secret) => [secret, secret.replace(/^\S+\s+/, "")]);
    const forms = bare.flatMap((text) => [
        text,
        JSON.stringify(text).slice(1, -1),
        encodeURIComponent(text),
        Buffer.from(text).toString("base64"),
    ]);
    // The longest first: what is left of a longer one would show.
    const hidden = [...new Set(forms)].filter((form) => form !== "").sort((one, other) => other.length - one.length);
    return (text) => hidden.reduce((rest, form) => rest.replaceAll(form, "[secret]"), text);
}
