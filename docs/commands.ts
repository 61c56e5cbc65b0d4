import { meaningOf, type Program } from "../cli/command";
import * as programs from "../cli/programs";
import { tableOf, withPart, wrapped } from "./markdown";

const all = Object.values(programs).filter((each) => typeof each === "object" && "exitCodes" in each);

/** Contributors read the help. */
const forContributors: readonly Program[] = [programs.benchProgram, programs.recordProgram, programs.releaseProgram];
const described = all.filter((program) => !forContributors.includes(program));

/** The page says once what a wrong argument gives. */
const saidOnce = "wrong argument";

export const withCommands = (page: string): string =>
    described.reduce((text, program) => withPart(text, program.name(), referenceOf(program)), page);

function referenceOf(program: Program): string {
    const options = [
        ...program.registeredArguments.map((argument) => [`\`${argument.name()}\``, argument.description]),
        ...program.options.map((option) => [`\`${option.flags.replaceAll(/[<>]/g, "")}\``, meaningOf(option)]),
    ];
    const codes = program.exitCodes.filter(([, meaning]) => meaning !== saidOnce);
    const exitCodes = codes.map(([code, meaning]) => `\`${code}\` ${meaning}`);
    return [
        `${program
            .description()
            .split("\n")
            .map((line) => wrapped(line))
            .join("\n")}\n`,
        ...(options.length > 0 ? [tableOf([["option", "meaning"], ...options])] : []),
        `${wrapped(`Exit codes: ${exitCodes.join("; ")}.`)}\n`,
    ].join("\n");
}
