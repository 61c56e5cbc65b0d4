import { type Setting, settings } from "../components/configuration/settings";

/** A part of the page: settings that are read together, by a pattern that their keys match. */
interface Group {
    title: string;
    /** What a reader should know before the table. @default nothing */
    intro?: string;
    keys: RegExp;
}

const groups: Group[] = [
    { title: "Shop", keys: /^(variant|namespace)$/ },
    {
        title: "Cluster",
        intro:
            "A stack touches only the cluster that it names, or one that is local by its kubeconfig context's\n" +
            "name and by its API server's address.",
        keys: /^(kube|cluster)\./,
    },
    {
        title: "How the shop is installed",
        intro: "See [Installing](installing.md#three-ways-to-install).",
        keys: /^(install|chart|manifest)(\.|$)/,
    },
    { title: "Network", keys: /^((gateway|ingress)\.|networkPolicies$)/ },
    {
        title: "Pods",
        intro: "How many pods run, on which nodes, from which images, and how they start and stop.",
        keys: /^(replicas|orders|images|nodes|shutdown)\./,
    },
    {
        title: "Storage",
        intro: "A claim is a PersistentVolumeClaim. Without one, data is lost with its pod.",
        keys: /^(database|broker|storage)\./,
    },
    { title: "Agent", intro: "See [The agent](agent.md).", keys: /^agent\./ },
    { title: "Experiment", intro: "See [Experiments](experiments.md).", keys: /^experiment\./ },
];

const head = `<!-- Written by \`npm run docs:settings\` from components/configuration/settings.ts. -->

# Settings

A setting belongs to a stack and is kept in the stack's file, such as \`Pulumi.local.yaml\`. Set it with:

    npx pulumi config set KEY VALUE

- The dots are part of the key: do not use \`--path\`.
- A time is written as \`500ms\`, \`90s\`, \`5m\` or \`1h30m\`.
- \`npx pulumi config rm KEY\` returns to the default.

An update that disables the experiment first ends its attacks. Then it reads all settings and reports every mistake at
once, each with the command that fixes it, before it changes anything else. A setting that has no effect is a mistake
too, such as \`replicas.hot-deals\` for a shop that comes from a chart.
`;

/** The text of docs/settings.md. @throws Error that names the settings that no group has */
export function settingsPage(): string {
    const all = Object.entries(settings) as [string, Setting<unknown>][];
    const homeless = all.filter(([key]) => !groups.some(({ keys }) => keys.test(key))).map(([key]) => key);
    if (homeless.length > 0) throw new Error(`docs/settings-page.ts has no group for ${homeless.join(", ")}`);
    return [head, ...groups.map((group) => section(group, all))].join("\n");
}

function section({ title, intro, keys }: Group, all: [string, Setting<unknown>][]): string {
    const rows = all.filter(([key]) => keys.test(key)).map(([key, setting]) => row(key, setting));
    const table = ["| key | default | allowed | meaning |", "|---|---|---|---|", ...rows].join("\n");
    return [`## ${title}`, intro, table].filter((part) => part !== undefined).join("\n\n") + "\n";
}

function row(key: string, setting: Setting<unknown>): string {
    const { default: standard, describedDefault = "none", allowed, meaning } = setting;
    const shown = standard === undefined ? describedDefault : `\`${standard}\``;
    return `| ${[`\`${key}\``, shown, allowed, meaning].map(cell).join(" | ")} |`;
}

/** A pipe would end the cell. */
const cell = (text: string) => text.replaceAll("|", "\\|");
