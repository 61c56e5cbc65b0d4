import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kubectl, kubectlFor } from "../../chaos/values/kubectl";

describe("a command of kubectl for people", () => {
    it("names the context, since another may be the current one", () => {
        expect(kubectl({ context: "kind-a", namespace: "demo" })).toBe("kubectl --context kind-a --namespace demo");
        expect(kubectl({ context: "kind shop" })).toBe("kubectl --context 'kind shop'");
        expect(kubectl({})).toBe("kubectl");
        expect(kubectlFor({ kubeconfig: { getCurrentContext: () => "kind-a" } })).toBe("kubectl --context kind-a");
    });
});

interface Line {
    file: string;
    text: string;
    /** In its file. */
    number: number;
}

/** The lines of all programs that print commands, without comments. */
function linesOf(folders: readonly string[]): Line[] {
    const files = folders.flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    );
    const sources = files.filter(
        (file) => /\.(?:html|ts)$/.test(file) && !/(?:^|\/)(?:node_modules|dist|test)\//.test(file),
    );
    expect(sources.length).toBeGreaterThan(200);
    return sources.flatMap((file) =>
        readFileSync(file, "utf8")
            .split("\n")
            .map((text, index) => ({ file, text: text.trim(), number: index + 1 }))
            .filter(({ text }) => !/^(?:\*|\/\*|\/\/)/.test(text)),
    );
}

const shown = ({ file, number, text }: Line) => `${file}:${number}: ${text}`;

/** Commands that act on a cluster; not `kubectl config` or, as a figure of speech, `kubectl scale`. */
const bare =
    /kubectl (?:--|-n |(?:annotate|api-resources|apply|auth|cluster-info|delete|describe|get|label|logs|wait) )/;

it("no message writes a command of kubectl by itself", () => {
    const found = linesOf(["chaos", "components", "cli"]).filter(({ text }) => bare.test(text));
    expect(found.map(shown)).toEqual([]);
});

/** Commands that read or change a stack: the selected one, if they name none. */
const ofStack = [
    /pulumi (?:cancel|config (?:rm|set)|destroy|preview|refresh|stack (?:export|import)|up)\b/,
    /npm run (?:-s )?(?:experiment|render|targets|workshop) --/,
];

/** What may have such a command without a stack, and why. */
const withoutStack: Record<string, string> = {
    "set `enabled` to false in the program": "a program of the package's user, who knows its stack",
    "npm run experiment -- --list": "is the same for all stacks",
    "Whether `pulumi destroy` keeps": "says what a setting does",
};

/** Help, whose examples are for the default stack; what the demo does itself, and how to repeat it there. */
const examples = ["cli/programs.ts", "cli/demo.ts"];

it("every printed command that reads or changes a stack names it, since another may be selected", () => {
    const printed = linesOf(["chaos", "components", "cli", "services", "experiments", "toolchain"]).filter(
        ({ file, text }) => !examples.includes(file) && !Object.keys(withoutStack).some((part) => text.includes(part)),
    );
    const found = printed.filter(({ text }) =>
        text.split("&&").some((command) => ofStack.some((form) => form.test(command)) && !command.includes("--stack")),
    );
    expect(found.map(shown)).toEqual([]);
});
