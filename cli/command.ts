import { quote } from "shlex";
import { Command, CommanderError, type Option } from "commander";
import { plainError } from "../chaos/cli/plain-error";
import { setCommand } from "../components/pulumi-command";
import { type Found, removeCommand, secretMeantBy, setSecretCommand } from "../components/configuration/mistakes";
import { mistakeIn } from "../components/configuration/read";
import { settingOf, settings } from "../components/configuration/settings";
import { withShellSetup } from "./shell-setup";

/** What exit codes mean, in the order of reading. */
export type ExitCodes = readonly (readonly [code: number, meaning: string])[];

/** A program that `npm run NAME` starts: its options, which its help and docs/cli.md are made from. */
export class Program extends Command {
    constructor(
        name: string,
        readonly exitCodes: ExitCodes,
    ) {
        super(name);
        const codes = exitCodes.map(([code, meaning]) => `  ${String(code).padEnd(3)}  ${plain(meaning)}\n`);
        this.helpOption("-h, --help", "show this text")
            .configureHelp({
                commandUsage: (program) => `npm run ${name} -- ${program.usage()}`,
                commandDescription: (program) => plain(program.description()),
                argumentDescription: ({ description }) => plain(description),
                optionDescription: (option) => plain(meaningOf(option)),
            })
            .configureOutput({ getOutHelpWidth: () => 120, writeErr: () => undefined })
            .exitOverride()
            .addHelpText("after", `\nExit codes:\n${codes.join("")}`.trimEnd());
    }

    takesStack(): this {
        return this.option("--stack <NAME>", "the stack", "local");
    }

    takesMany(flags: string, meaning: string): this {
        const collect = (value: string, before: string[]) => [...before, value];
        return this.option(flags, `${meaning}; may be repeated`, collect, []);
    }

    /**
     * Reads the options. Arguments are in `args` afterwards.
     *
     * @throws Error with what is wrong; CommanderError after printing the help
     */
    read<Values extends object>(args: readonly string[]): Values {
        for (const [index, arg] of args.entries()) {
            const option = this.options.find(({ long, required }) => required && long === arg);
            const next = args[index + 1];
            if (option === undefined || next?.startsWith("-") === false) continue;
            const before = next === undefined ? "" : ` before ${withoutValue(next)}`;
            throw new Error(`${arg} needs a value${before}; allowed: ${option.flags}, ${plain(option.description)}`);
        }
        try {
            return this.parse(args, { from: "user" }).opts<Values>();
        } catch (error) {
            if (isHelp(error)) throw error;
            const { code, message } = error as CommanderError;
            const mistake = message.replace(/^error: /, "");
            // The value of an option that does not exist may be a secret.
            throw new Error(code === "commander.unknownOption" ? mistake.replace(/('-[^'=]*)=[^]*'/, "$1'") : mistake);
        }
    }

    /**
     * Runs the program with the arguments of this process. Errors are printed without the engine's output.
     *
     * @param read the options in arguments
     */
    run<Options>(
        read: (args: string[]) => Options,
        main: (options: Options) => Promise<void>,
        { wrongArgument = 2 } = {},
    ): void {
        const fail = (text: string, code: number) => {
            console.error(text);
            process.exitCode ||= code;
        };
        let options: Options;
        try {
            options = read(process.argv.slice(2));
        } catch (error) {
            if (isHelp(error)) return;
            return fail(`${(error as Error).message}\nSee: npm run ${this.name()} -- --help`, wrongArgument);
        }
        main(options).catch((error: unknown) => fail(withShellSetup(plainError(error)), 1));
    }
}

/** The meaning of an option, with its default. In Markdown. */
export const meaningOf = ({ description, defaultValue }: Option): string =>
    typeof defaultValue === "string" ? `${description}. Default: \`${defaultValue}\`` : description;

const plain = (markdown: string) => markdown.replaceAll("`", "");

/** An argument as it may be shown: its value may be a secret. */
const withoutValue = (arg: string) => arg.replace(/=[^]*/, "=…");

const isHelp = (error: unknown) => error instanceof CommanderError && error.code === "commander.helpDisplayed";

/**
 * Refuses all arguments of a program that has no options: an ignored `--set namespace=mine` would install the shop in
 * another namespace than its user thinks.
 */
export function noOptions(program: Program): (args: string[]) => void {
    return (args) => {
        program.allowUnknownOption().allowExcessArguments().read(args);
        if (args.length === 0) return;
        const named = args.map(withoutValue).join(" ");
        throw new Error(
            `this program has no options but --help: omit ${named}. It uses the settings of Pulumi.local.yaml: ` +
                setCommand("KEY", "VALUE", "local"),
        );
    };
}

/**
 * Parses the values of options `--set KEY=VALUE`.
 *
 * @param stack for commands
 * @param report gets what is wrong: another form, a key or value that is not allowed, a secret that would be exposed.
 *   @default all of it is thrown
 */
export function settingsIn(
    pairs: readonly string[],
    stack: string,
    report?: (mistake: string) => void,
): Record<string, string> {
    const mistakes: string[] = [];
    const set = Object.fromEntries(
        pairs.map((pair) => {
            const [, key = "", value = ""] = /^(?:chaos-shop:)?([^=]+)=([^]*)$/.exec(pair) ?? [];
            // What is not a key may be a secret.
            const shown = Object.hasOwn(settings, pair) ? pair : "[hidden]";
            // Every user of the machine can read a command's arguments.
            const secret = secretMeantBy(key);
            const mistake = mistakeIn(key, value);
            const given = settingOf(key) === undefined ? key : `${key}=${value}`;
            if (key === "") mistakes.push(`--set ${shown} is not KEY=VALUE; example: --set experiment.radius=50%`);
            else if (secret !== undefined)
                mistakes.push(
                    `--set ${key} would expose a secret; set it for the stack: ${setSecretCommand(secret, stack)}`,
                );
            else if (mistake !== undefined)
                mistakes.push(`--set ${given}: ${mistake.reason}; ${remedyOf(mistake, { [key]: value }, stack)}`);
            return [key, value];
        }),
    );
    if (report === undefined && mistakes.length > 0) throw new Error(mistakes.join("\n"));
    mistakes.forEach((mistake) => report?.(mistake));
    return set;
}

/** What to do about a mistake on a command line. @param set its options `--set` */
export const remedyOf = ({ mend }: Found, set: Record<string, string>, stack: string): string =>
    Object.entries(mend)
        .map(([key, value]) => {
            if (value !== undefined) return `use --set ${quote(`${key}=${value}`)}`;
            return Object.hasOwn(set, key) ? `omit --set ${key}` : removeCommand(key, stack);
        })
        .join(", and ");
