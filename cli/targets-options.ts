import { parseAttributes } from "../chaos/targets/attributes";
import { targetsProgram } from "./programs";

export interface TargetsOptions {
    json: boolean;
    /** A target must match all of them. */
    expressions: string[];
    stack: string;
    /** The shop's namespace. @default the one in the stack's file */
    namespace?: string;
}

/** Parses the arguments of `npm run targets`. @throws Error with what is wrong */
export function targetsOptions(args: string[]): TargetsOptions {
    const { json = false, ...place } = targetsProgram.read<Omit<TargetsOptions, "expressions">>(args);
    targetsProgram.args.forEach((expression) => parseAttributes(expression));
    return { json, ...place, expressions: targetsProgram.args };
}
