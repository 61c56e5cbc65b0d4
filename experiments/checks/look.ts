import type { Plan, PlannedCheck } from "../plan";
import type { Answer } from "./answer";
import { kindOfCheck, type Surroundings } from "./check";

/** What a check was answered, in the order of asking. */
export interface Checked {
    name: string;
    answers: Answer[];
}

/** Looks once, as a planned check says. */
export function look({ check, timeoutMs }: PlannedCheck, around: Surroundings): Promise<Answer> {
    return kindOfCheck(check).ask(check, around, timeoutMs);
}

/** The checks by their names, for people: `/products and POST /orders`. */
export function namesOf({ checks }: Plan): string {
    const names = checks.map(({ name }) => name);
    return [names.slice(0, -1).join(", "), names.at(-1)].filter((part) => part !== "").join(" and ");
}
