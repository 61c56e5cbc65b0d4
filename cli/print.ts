import { styleText } from "node:util";

export function say(line = ""): void {
    console.log(line);
}

export function heading(text: string): void {
    say(`\n${styleText("bold", text)}`);
}

export const typed = (command: string) => styleText("cyan", `$ ${command}`);
