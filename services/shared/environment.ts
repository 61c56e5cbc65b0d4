import * as z from "zod/mini";

/** What a program was told by its environment, with every mistake in it. */
export class EnvironmentError extends Error {
    constructor(readonly mistakes: string[]) {
        super(
            `The environment has ${mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`}:\n  ` +
                mistakes.join("\n  "),
        );
        this.name = "EnvironmentError";
    }
}

/**
 * Reads a program's environment against its schema, once, at the start.
 *
 * @param schema one zod object whose keys are the variables; build its fields with the functions below, which
 *     carry the sentence that says what is allowed
 * @param environment where the variables are; by default the process's own
 * @returns the values, converted and with defaults filled in
 * @throws EnvironmentError that names every wrong variable, the value found and what is allowed
 */
export function readEnvironment<Schema extends z.ZodMiniObject>(
    schema: Schema,
    environment: Record<string, string | undefined> = process.env,
): z.infer<Schema> {
    const outcome = schema.safeParse(environment);
    if (outcome.success) {
        return outcome.data;
    }
    // One line a variable: the first complaint about a value explains the later ones.
    const allowedByVariable = new Map<string, string>();
    for (const issue of outcome.error.issues) {
        const variable = String(issue.path[0]);
        if (!allowedByVariable.has(variable)) {
            allowedByVariable.set(variable, issue.message);
        }
    }
    throw new EnvironmentError(
        [...allowedByVariable].map(([variable, allowed]) => `${variable} ${found(variable, environment)}; ${allowed}`),
    );
}

function found(variable: string, environment: Record<string, string | undefined>): string {
    const value = environment[variable];
    if (value === undefined) {
        return "is not set";
    }
    if (value === "") {
        return "is empty";
    }
    // An error ends in the log, and the log is read by many.
    return /PASSWORD|SECRET|TOKEN|KEY/.test(variable) ? "is set to a value not shown" : `is ${JSON.stringify(value)}`;
}

function wholeNumber(allowed: string, least: number, most: number) {
    const digits = z.string(allowed).check(z.regex(/^\d{1,9}$/, allowed));
    return z.pipe(z.pipe(digits, z.transform(Number)), z.number().check(z.gte(least, allowed), z.lte(most, allowed)));
}

/** A TCP port, 1 to 65535. */
export function port(byDefault: number) {
    return z.prefault(wholeNumber(`set a port from 1 to 65535, for example ${byDefault}`, 1, 65535), String(byDefault));
}

/** A length of time in milliseconds, 1 to 60000. */
export function milliseconds(byDefault: number) {
    const allowed = `set a whole number of milliseconds from 1 to 60000, for example ${byDefault}`;
    return z.prefault(wholeNumber(allowed, 1, 60_000), String(byDefault));
}

/** How long a program goes on serving after it was told to stop, in milliseconds, up to a minute; 0 unless told. */
export function shutdownDelay() {
    return z.prefault(
        wholeNumber("set a whole number of milliseconds from 0 to 60000, for example 5000", 0, 60_000),
        "0",
    );
}

/** The address of another program of the shop; plain HTTP, as inside a cluster. */
export function httpUrl(example: string) {
    const allowed = `set an http:// address, for example ${example}`;
    const address = z
        .string(allowed)
        .check(z.refine((text) => URL.canParse(text) && new URL(text).protocol === "http:", allowed));
    return z.pipe(
        address,
        z.transform((text) => new URL(text)),
    );
}

/** Any text but the empty one. */
export function text(example: string) {
    const allowed = `set it, for example to ${example}`;
    return z.string(allowed).check(z.minLength(1, allowed));
}

/** A text that must not be seen: never defaulted, never shown. `what` says what it is and where it comes from. */
export function secret(what: string) {
    const allowed = `set it to ${what}`;
    return z.string(allowed).check(z.minLength(1, allowed));
}

/** One of a few words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
    return z.enum(words, `set one of ${words.join(", ")}`);
}

/** How much a program logs; `info` unless told. */
export function logLevel() {
    return z.prefault(oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]), "info");
}

/** What every program of the shop is told. */
export const programVariables = {
    PORT: port(8080),
    LOG_LEVEL: logLevel(),
    SHUTDOWN_DELAY_MS: shutdownDelay(),
};

/**
 * What a program is told that uses the database, in the variables that PostgreSQL's own programs use.
 *
 * @param account the database's account for it
 */
export const databaseVariables = (account: string) => ({
    PGHOST: text("product-db"),
    PGPORT: port(5432),
    PGUSER: z.prefault(text(account), account),
    PGDATABASE: z.prefault(text("shop"), "shop"),
    PGPASSWORD: secret("the password of PGUSER, from a Secret"),
    /** How long the database may take in all, connecting included; less than whoever asks the program waits for an answer. */
    QUERY_TIMEOUT_MS: milliseconds(1_500),
});

/** What a program is told that uses the broker. @param account the broker's account for it */
export const brokerVariables = (account: string) => ({
    BROKER_HOST: text("message-broker"),
    BROKER_PORT: port(4222),
    BROKER_USER: z.prefault(text(account), account),
    BROKER_PASSWORD: secret("the password of BROKER_USER, from a Secret"),
});

/** The values of some variables. */
export type ValuesOf<Variables extends z.core.$ZodLooseShape> = z.infer<z.ZodMiniObject<Variables>>;
