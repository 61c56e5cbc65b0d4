import { meaningOf, type Program } from "../cli/command";
import * as programs from "../cli/programs";
import { tableOf, withPart, wrapped } from "./markdown";

const all = Object.values(programs).filter((each) => typeof each === "object" && "exitCodes" in each);

export const withCommands = (page: string): string =>
    all.reduce((text, program) => withPart(text, program.name(), referenceOf(program)), page);

function referenceOf(program: Program): string {
    const options = [
        ...program.registeredArguments.map((argument) => [`\`${argument.name()}\``, argument.description]),
        ...program.options.map((option) => [`\`${option.flags.replaceAll(/[<>]/g, "")}\``, meaningOf(option)]),
    ];
    const exitCodes = program.exitCodes.map(([code, meaning]) => [String(code), meaning]);
    return [
        `${program
            .description()
            .split("\n")
            .map((line) => wrapped(line))
            .join("\n")}\n`,
        ...(options.length > 0 ? [tableOf([["option", "meaning"], ...options])] : []),
        tableOf([["exit code", "meaning"], ...exitCodes]),
    ].join("\n");
}
