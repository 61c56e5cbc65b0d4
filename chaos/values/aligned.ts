/** Cells as lines of text, in columns as wide as their longest cell. */
export function alignedRows(rows: readonly (readonly string[])[]): string[] {
    const widths: number[] = [];
    for (const row of rows)
        for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
    const padded = (cell: string, column: number) => cell.padEnd(widths[column]!);
    return rows.map((row) => row.map(padded).join("  ").trimEnd());
}
