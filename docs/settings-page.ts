import { type Group, groups, type Setting, settings } from "../components/configuration/settings";
import { tableOf } from "./markdown";

const head = `<!-- Written by \`npm run docs\` from components/configuration/settings.ts. -->

# Settings

A setting belongs to a stack and is kept in the stack's file, such as \`Pulumi.local.yaml\`. Set it with:

    npx pulumi config set KEY VALUE

- The dots are part of the key: do not use \`--path\`.
- A time is written as \`500ms\`, \`90s\`, \`5m\` or \`1h30m\`.
- \`npx pulumi config rm KEY\` returns to the default.
- Pulumi does not say to a program which file it read. With \`--config-file FILE\`, add that also to the commands in
  messages.

An update that disables the experiment first ends its attacks. Then it reads all settings and reports every mistake at
once, each with the command that fixes it, before it changes anything else. A setting that a chart or a manifest
cannot take is a mistake too, such as \`replicas.hot-deals\` for a shop that comes from a chart. Settings of a way of
installing that is not chosen, such as \`chart.repo\`, have no effect: set them first, then \`install\`.
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
    return [`\`${key}\``, standard === undefined ? describedDefault : `\`${standard}\``, allowed, meaning];
}
