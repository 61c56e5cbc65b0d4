import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { reasonOf } from "./log";

/** A program's environment is invalid; lists every mistake. */
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
 * Parses a program's environment with its schema, once, at the start. A password is in the file that the variable with
 * `_FILE` at its end names, which counts more than the variable itself.
 *
 * @param schema a zod object whose keys are the variables; build its fields with the functions below, whose messages
 *     say what is allowed
 * @returns the values, converted, with defaults
 * @throws EnvironmentError names every wrong variable, its value and what is allowed
 */
export function readEnvironment<Values>(
    schema: z.ZodMiniType<Values>,
    environment: Record<string, string | undefined> = process.env,
): Values {
    const { passwords, unreadable } = passwordsIn(environment);
    const outcome = schema.safeParse({ ...environment, ...passwords });
    if (outcome.success && unreadable.size === 0) return outcome.data;
    // One line per variable: the first issue explains the later ones.
    const allowedByVariable = new Map<string, string>();
    for (const issue of outcome.error?.issues ?? []) {
        const variable = String(issue.path[0]);
        if (!allowedByVariable.has(variable) && !unreadable.has(variable))
            allowedByVariable.set(variable, issue.message);
    }
    throw new EnvironmentError([
        ...unreadable.values(),
        ...[...allowedByVariable].map(
            ([variable, allowed]) => `${variable} ${found(variable, environment)}; ${allowed}`,
        ),
    ]);
}

/** The passwords in files that variables name, and what is wrong with the other files, by the password's variable. */
function passwordsIn(environment: Record<string, string | undefined>) {
    const passwords: Record<string, string> = {};
    const unreadable = new Map<string, string>();
    const remedy = "mount the Secret with the password there";
    for (const [variable, file] of Object.entries(environment)) {
        const [, name] = /^(\w*PASSWORD)_FILE$/.exec(variable) ?? [];
        if (name === undefined || !file) continue;
        try {
            passwords[name] = readFileSync(file, "utf8").replace(/\n$/, "");
            if (passwords[name] === "") unreadable.set(name, `${variable} is "${file}", which is empty; ${remedy}`);
        } catch (error) {
            unreadable.set(name, `${variable} is "${file}", which cannot be read: ${reasonOf(error)}; ${remedy}`);
        }
    }
    return { passwords, unreadable };
}

function found(variable: string, environment: Record<string, string | undefined>): string {
    const value = environment[variable];
    if (value === undefined) return "is not set";
    if (value === "") return "is empty";
    // The message goes to the log, which many can read.
    return /PASSWORD|SECRET|TOKEN|KEY/.test(variable) ? "is set to a value not shown" : `is ${JSON.stringify(value)}`;
}

function wholeNumber(what: string, [least, most]: [number, number], byDefault: number, example = byDefault) {
    const allowed = `set ${what} from ${least} to ${most}, for example ${example}`;
    const digits = z.string(allowed).check(z.regex(/^\d{1,9}$/, allowed));
    const limited = z.number().check(z.gte(least, allowed), z.lte(most, allowed));
    return z.prefault(z.pipe(z.pipe(digits, z.transform(Number)), limited), String(byDefault));
}

/** A TCP port. */
export const port = (byDefault: number) => wholeNumber("a port", [1, 65_535], byDefault);

/** A duration. */
export const milliseconds = (byDefault: number, least = 1, example?: number) =>
    wholeNumber("a whole number of milliseconds", [least, 60_000], byDefault, example);

/** The URL of another program of the shop: plain HTTP, as inside the cluster. */
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

const notEmpty = (allowed: string) => z.string(allowed).check(z.minLength(1, allowed));

export const text = (example: string) => notEmpty(`set it, for example to ${example}`);

export const textOr = (byDefault: string) => z.prefault(text(byDefault), byDefault);

/**
 * A password: has no default, and messages never show it.
 *
 * @param name its variable; see `readEnvironment`
 * @param account the variable with the account that it belongs to
 */
const password = (name: string, account: string) =>
    notEmpty(`set ${name}_FILE to a file with the password of ${account}, from a Secret`);

export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
    z.enum(words, `set one of ${words.join(", ")}`);

/** The lowest level that a program logs. */
export const logLevel = () => z.prefault(oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]), "info");

/** Variables of every program of the shop. */
export const programVariables = {
    PORT: port(8080),
    LOG_LEVEL: logLevel(),
    /** How long a program keeps serving after SIGTERM, in milliseconds, at most a minute. */
    SHUTDOWN_DELAY_MS: milliseconds(0, 0, 5_000),
};

/**
 * Variables of a program that uses the database, named as PostgreSQL's own programs name them.
 *
 * @param account the program's account in the database
 */
export const databaseVariables = (account: string) => ({
    PGHOST: text("product-db"),
    PGPORT: port(5432),
    PGUSER: textOr(account),
    PGDATABASE: textOr("shop"),
    PGPASSWORD: password("PGPASSWORD", "PGUSER"),
    /** Limit for one query, connecting included. Must be less than the timeout of the program's callers. */
    QUERY_TIMEOUT_MS: milliseconds(1_500),
});

/** Variables of a program that uses the broker. @param account the program's account at the broker */
export const brokerVariables = (account: string) => ({
    BROKER_HOST: text("message-broker"),
    BROKER_PORT: port(4222),
    BROKER_USER: textOr(account),
    BROKER_PASSWORD: password("BROKER_PASSWORD", "BROKER_USER"),
});

export type ValuesOf<Variables extends z.core.$ZodLooseShape> = z.infer<z.ZodMiniObject<Variables>>;
