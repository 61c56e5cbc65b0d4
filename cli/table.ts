/**
 * Cells as lines of text, in columns as wide as their longest cell.
 *
 * @param rightFrom the first column that is aligned to the right, from 0. @default none
 */
export function alignedRows(rows: readonly (readonly string[])[], rightFrom = Infinity): string[] {
    const widths: number[] = [];
    for (const row of rows)
        for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
    const align = (cell: string, column: number) =>
        column < rightFrom ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
    return rows.map((row) => row.map(align).join("  ").trimEnd());
}
