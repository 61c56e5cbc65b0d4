/** Rounding that a reader can compare with a limit: a bound is never shown on the other side of it. */
export type Rounding = "nearest" | "down" | "up";

/** Computed shares differ in their last digits from the decimal fractions that they are meant to be. */
const noise = 1e-13;
/** No number of this project has more that mean something. */
const mostPlaces = 20;

function rounded(number: number, places: number, rounding: Rounding): number {
    const nearest = Number(number.toFixed(places));
    if (rounding === "down" && nearest > number + noise) return Number((nearest - 10 ** -places).toFixed(places));
    if (rounding === "up" && nearest < number - noise) return Number((nearest + 10 ** -places).toFixed(places));
    return nearest;
}

/** With as many decimal places as it takes until the rounded number is as it should be. @param places the fewest */
export function roundedUntil(
    number: number,
    places: number,
    rounding: Rounding,
    isRight: (shown: number) => boolean,
): number {
    for (; places <= mostPlaces; places++) {
        const shown = rounded(number, places, rounding);
        if (isRight(shown)) return shown;
    }
    return number;
}
