import { distance } from "fastest-levenshtein";
import { namesCredential } from "../../chaos/values/credentials";
import { pulumiCommand, setCommand } from "../pulumi-command";
import { type Key, type Setting, settingOf, settings } from "./settings";

export interface Found {
    key: string;
    reason: string;
    /** The settings that mend it, by key. One without a value must not be set. */
    mend: Readonly<Record<string, string | undefined>>;
    /** @default the commands that set and remove the settings of `mend` */
    command?: string;
}

export interface Mistake extends Found {
    command: string;
    /** Undefined if it is not set. "[secret]" for a secret, "[hidden]" for what could be one. */
    value?: string;
}

/** Everything that is wrong with a stack's configuration, reported at once. */
export class ConfigurationError extends Error {
    constructor(
        stack: string,
        readonly mistakes: readonly Mistake[],
    ) {
        const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
        super(`the configuration of stack ${stack} has ${count}:\n\n${mistakes.map(describe).join("\n\n")}\n`);
        this.name = "ConfigurationError";
    }
}

export const stateOf = ({ key, value }: Mistake) => `${key} is ${value === undefined ? "not set" : `"${value}"`}`;

function describe(mistake: Mistake): string {
    const { reason, command } = mistake;
    return `  ${stateOf(mistake)}\n    ${reason}\n    fix it with: ${command}`;
}

/** A valid value to suggest. @param given the invalid value, unless it must stay hidden */
export const suggestion = (setting: Setting<unknown>, given?: string): string =>
    (given === undefined ? undefined : likelyMeant(setting, given)) ?? setting.default ?? setting.example ?? "VALUE";

/** What an invalid value most likely means: `my-shop` for `My_Shop`, `30s` for `30`, `false` for `flase`. */
function likelyMeant(setting: Setting<unknown>, given: string): string | undefined {
    const lower = given.trim().toLowerCase();
    const word = nearestFirst(lower, setting.words ?? []).find((each) => isNear(lower, each));
    // A share of 1 means 100%.
    const inUnits = /^\d+$/.test(lower) ? [`${lower}s`, ...(Number(lower) > 1 ? [`${lower}%`] : [])] : [];
    // In a list, an image or a URL, cases and spaces have a meaning.
    const names = /^[\w.-]+$/.test(lower) ? [lower, lower.replaceAll("_", "-")] : [];
    return [word, given.trim(), ...names, ...inUnits].find((text) => {
        try {
            return text && setting.read(text) !== undefined;
        } catch {
            return false;
        }
    });
}

/** Prompts for the value: it appears neither on the screen nor in a process's arguments. */
export const setSecretCommand = (key: string, stack?: string) =>
    pulumiCommand(["config", "set", "--secret", key], stack);

export const removeCommand = (key: string, stack?: string) => pulumiCommand(["config", "rm", key], stack);

export const commandOf = ({ mend }: Found): string =>
    Object.entries(mend)
        .map(([key, value]) =>
            value === undefined
                ? removeCommand(key)
                : isSecretKey(key)
                  ? setSecretCommand(key)
                  : setCommand(key, value),
        )
        .join(" && ");

/**
 * The mistake of setting an unknown key: usually a typing error, or a key that was set with `--path`. Its value may be
 * a secret: the command moves it without showing it. It moves nothing if the stack's file does not have the key, which
 * may be in another file.
 *
 * @param isSecret whether it was set with `--secret`
 */
export function unknownKey(key: string, isSecret: boolean): Found {
    const nested = Object.keys(settings).filter((known) => known.startsWith(`${key}.`)) as Key[];
    if (nested.length > 0) {
        const reason = `dots are part of a key; set these keys without --path: ${nested.join(", ")}`;
        return { key, reason, mend: { [key]: undefined, [nested[0]!]: suggestion(settings[nested[0]!]) } };
    }
    const nearest = nearestKey(key);
    if (nearest === undefined) {
        const reason = `there is no such setting; allowed: ${Object.keys(settings).join(", ")}`;
        return { key, reason, mend: { [key]: undefined } };
    }
    const reason = `there is no such setting; did you mean ${nearest}?`;
    const mend = { [key]: undefined, [nearest]: "VALUE" };
    if (isSecretKey(nearest)) return { key, reason, mend };
    const get = pulumiCommand(["config", "get", key]);
    const set = pulumiCommand(["config", "set", ...(isSecret ? ["--secret"] : []), nearest]);
    const command = `(value=$(${get}) && printf %s "$value" | ${set} && ${removeCommand(key)})`;
    return { key, reason, mend, command };
}

export const isSecretKey = (key: string): boolean => settingOf(key)?.isSecret === true;

/**
 * The setting that a value is meant for which may be a secret. Undefined if the value may be shown.
 *
 * @param key as a person wrote it
 */
export function secretMeantBy(key: string): string | undefined {
    if (settingOf(key) !== undefined) return isSecretKey(key) ? key : undefined;
    const nearest = nearestKey(key);
    if (nearest !== undefined && isSecretKey(nearest)) return nearest;
    return /(?:^|[._-])key$/i.test(key) || namesCredential(key.replace(/^.*\./, "")) ? key : undefined;
}

/** The setting that a mistyped key most likely means. */
function nearestKey(key: string): Key | undefined {
    const nearest = nearestFirst(key, Object.keys(settings))[0]!;
    return isNear(key, nearest) ? (nearest as Key) : undefined;
}

const isNear = (word: string, meant: string) => distanceOf(word, meant) <= Math.ceil(meant.length / 3);

/** Words, those first that are most like another. */
export const nearestFirst = (word: string, words: readonly string[]): string[] =>
    [...words].sort((a, b) => distanceOf(word, a) - distanceOf(word, b));

const distanceOf = (a: string, b: string) => distance(a.toLowerCase(), b.toLowerCase());
