import { explain } from "../chaos/cluster/problem";

/** What a program's arguments ask for: to run with options, the help text, or an error message. */
export type Parsed<Options> = Options | { help: true } | { mistake: string };

/**
 * Runs one of the programs that `npm run NAME` starts: prints its help, or sets exit code 2 for wrong arguments and 1
 * for an error.
 */
export function runWith<Options extends object>(
    name: string,
    help: string,
    parsed: Parsed<Options>,
    main: (options: Options) => Promise<void>,
): void {
    if ("help" in parsed) console.log(help);
    else if ("mistake" in parsed) {
        console.error(`${parsed.mistake}\nSee: npm run ${name} -- --help`);
        process.exitCode = 2;
    } else {
        main(parsed).catch((error: unknown) => {
            console.error(explain(error));
            process.exitCode = 1;
        });
    }
}
