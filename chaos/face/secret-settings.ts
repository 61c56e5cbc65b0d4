import * as pulumi from "@pulumi/pulumi";
import { storedInClear } from "../values/credentials";
import type { Plan } from "../definition/plan";

/** Shorter values may be anywhere by chance: a user `postgres`, a database `orders`. */
const leastLength = 12;

/** This is not documented, but Pulumi's own `Config.get` warns of secrets by it. */
const { isConfigSecret } = pulumi.runtime as typeof pulumi.runtime & { isConfigSecret?: (key: string) => boolean };

/**
 * The stack's secret settings whose values are in something that the state will show. `Config.get` gives them as plain
 * text, which cannot be told from other text.
 */
function secretSettingsIn(shown: unknown): string[] {
    const text = JSON.stringify(shown);
    const isHeld = (value: string) => value.length >= leastLength && text.includes(JSON.stringify(value).slice(1, -1));
    return Object.entries(pulumi.runtime.allConfig())
        .filter(([key, value]) => isConfigSecret?.(key) && isHeld(value))
        .map(([key]) => key);
}

/** @throws Error if the plan, which the state shows, has the value of a secret setting */
export function requireNoSecrets(name: string, plan: Plan): void {
    const held = secretSettingsIn(plan);
    if (held.length === 0) return;
    const what = `the value of the secret setting ${held.join(" and ")}`;
    throw new Error(
        `the experiment ${name} ${storedInClear(what, "use headersFrom, queryFrom or bodyFrom with a Secret")}`,
    );
}
