import { type Mistake, setCommand, suggestion } from "./mistakes";
import { type Key, settings } from "./settings";

/** What is wrong with a key that is no setting: a typing error most often, or one set with `--path`. */
export function unknownKey(key: string, value: string): Mistake {
    const nested = Object.keys(settings).filter((known) => known.startsWith(`${key}.`));
    if (nested.length > 0) {
        return {
            key,
            value,
            reason: `the keys under it have dots in their names and are set without --path: ${nested.join(", ")}`,
            command: `pulumi config rm ${key} && ${setCommand(nested[0]!, suggestion(settings[nested[0] as Key]))}`,
        };
    }
    const nearest = nearestKey(key);
    const remove = `pulumi config rm ${key}`;
    return nearest === undefined
        ? {
              key,
              value,
              reason: `there is no such setting; allowed: ${Object.keys(settings).join(", ")}`,
              command: remove,
          }
        : {
              key,
              value,
              reason: `there is no such setting; did you mean ${nearest}?`,
              command: `${remove} && ${setCommand(nearest, value)}`,
          };
}

/** The known key that a typing error most likely meant: at most a third of its letters differ. */
function nearestKey(key: string): string | undefined {
    const ranked = Object.keys(settings)
        .map((known) => ({ known, distance: editDistance(key.toLowerCase(), known.toLowerCase()) }))
        .sort((a, b) => a.distance - b.distance);
    const best = ranked[0]!;
    return best.distance <= Math.ceil(best.known.length / 3) ? best.known : undefined;
}

/** Levenshtein's distance: letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
    let row = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++) {
            next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
        }
        row = next;
    }
    return row[b.length]!;
}
