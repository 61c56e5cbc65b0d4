/** Completes the sentence "allowed: …". */
export const allowedName = allowedNameOf(63);

/** The same for a shorter name. */
export function allowedNameOf(length: number): string {
    return `lower-case letters, digits and dashes, at most ${length}, beginning and ending with a letter or digit`;
}

/** Whether a text is a name that Kubernetes accepts for most objects (an RFC 1123 label). */
export function isName(text: string): boolean {
    return /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}
