import { type Group, groups, type Setting, settings } from "../components/configuration/settings";
import { tableOf } from "./markdown";

const head = `<!-- Written by \`npm run docs\` from components/configuration/settings.ts. -->

# Settings

A setting belongs to a stack and is kept in the stack's file, such as \`Pulumi.local.yaml\`:

    npx pulumi config set KEY VALUE
    npx pulumi config rm KEY                # returns to the default

- The dots are part of the key: do not use \`--path\`.
- Times are written as \`500ms\`, \`90s\`, \`5m\` or \`1h30m\`, and names as
  [Kubernetes](https://kubernetes.io/docs/concepts/overview/working-with-objects/names/) defines them. Lists are
  comma-separated.
- With \`--config-file FILE\`, add that also to the commands in messages.

An update reports all mistakes in settings, each with the command that fixes it, before it changes anything; only the
attacks of a disabled experiment end before. Settings owned by the chart or manifest are rejected, such as
\`replicas.hot-deals\` for a chart. Settings of another way of installing have no effect: set them, then \`install\`.
`;

export const settingsPage = () =>
    [head, ...Object.entries<Group>(groups).map(([title, { intro }]) => section(title, intro))].join("\n");

function section(title: string, intro: string | undefined): string {
    const all = Object.entries<Setting<unknown>>(settings).filter(([, { group }]) => group === title);
    const table = tableOf([["key", "default", "allowed", "meaning"], ...all.map(rowOf)]);
    return [`## ${title}`, intro, table].filter((part) => part !== undefined).join("\n\n");
}

function rowOf([key, setting]: [string, Setting<unknown>]): string[] {
    const { default: standard, describedDefault = "none", allowed, meaning } = setting;
    return [`\`${key}\``, standard === undefined ? describedDefault : `\`${standard}\``, inTable(allowed), meaning];
}

/** What an error must say each time, and a table need not: how times and names are written is above it. */
const shorter: readonly [RegExp, string][] = [
    [/^a (?:duration|whole number) from (\S+) to ([^\s,]+).*/, "$1 to $2"],
    [/^a percentage above 0% and up to 100%, such as.*/, "above 0%, up to 100%"],
    [/^a percentage above 0% and below 100%, such as.*/, "above 0%, below 100%"],
    [
        /^a whole number of containers from 1, a percentage above 0% and up to 100%, or all/,
        "1 or more, a percentage, all",
    ],
    [/^lower-case letters, digits and dashes, at most 63.*/, "a DNS label"],
    [/^lower-case letters, digits, dashes and dots, at most 253.*/, "a DNS subdomain name"],
    [/, of lower-case letters.*/, ""],
    [/^an image reference with a digest, or a tag other than latest.*/, "an image with a digest or a tag, not latest"],
    [/, comma-separated/, ""],
    [/^any text that is not empty$/, "text"],
    [/^a URL that begins with https:\/\/ or http:\/\/$/, "a URL"],
];

const inTable = (allowed: string) => shorter.reduce((text, [long, short]) => text.replace(long, short), allowed);
