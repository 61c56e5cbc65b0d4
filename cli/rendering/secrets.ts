import { runtime } from "@pulumi/pulumi";

/**
 * A value with its secrets in plain text.
 *
 * @param value resource inputs as the SDK registers them, or from `pulumi stack export --show-secrets`
 * @throws Error if a secret is encrypted
 */
export function revealed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(revealed);
    if (typeof value !== "object" || value === null) return value;
    const fields = value as Record<string, unknown>;
    if (!runtime.isRpcSecret(fields))
        return Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, revealed(inner)]));
    // The SDK registers a secret with its value; a state holds it as JSON.
    if ("value" in fields) return revealed(fields.value);
    if (typeof fields.plaintext === "string") return revealed(JSON.parse(fields.plaintext));
    throw new Error("the state contains an encrypted secret; export it with --show-secrets");
}
