/** A table with columns of equal width. The first row is its head. */
export function tableOf(rows: readonly (readonly string[])[]): string {
    const cells = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
    const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
    const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`;
    const [head, ...rest] = cells.map(line);
    return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |\n`, ...rest].join("");
}

/** A page with another text for one of its parts, which a command writes. @throws Error if it does not have the part */
export function withPart(page: string, part: string, text: string, command = "npm run docs"): string {
    const [begin, end] = [`<!-- ${part}: written by \`${command}\`. -->\n`, "<!-- End. -->\n"];
    const from = page.indexOf(begin);
    const to = page.indexOf(end, from);
    if (from === -1 || to === -1) throw new Error(`the page lacks the lines ${begin.trim()} and ${end.trim()}`);
    return `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`;
}

/** Text in lines of at most 120 columns. @param indent of all lines but the first. @default none */
export function wrapped(text: string, indent = ""): string {
    const lines: string[] = [];
    for (const word of text.split(" ")) {
        const last = lines.at(-1);
        if (last !== undefined && last.length + word.length < 120) lines[lines.length - 1] = `${last} ${word}`;
        else lines.push(last === undefined ? word : indent + word);
    }
    return lines.join("\n");
}
