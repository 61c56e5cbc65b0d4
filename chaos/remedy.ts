/** Where an experiment is written decides how a person changes it. */
export interface Written {
    /**
     * Prefix of the stack's settings that the experiment is made from, such as `experiment.`. @default it is written in
     * a program
     */
    settings?: string;
}

/** How to give one of an experiment's values another: completes "…: ". @param value as it is written there */
export function remedy({ settings }: Written, name: string, value: string | number | boolean): string {
    if (settings === undefined) return `in the program, ${name}: ${JSON.stringify(value)}`;
    const quoted = typeof value === "string" && !/^[\w.%-]+$/.test(value) ? `'${value}'` : String(value);
    return `pulumi config set ${settings}${name} ${quoted}`;
}
