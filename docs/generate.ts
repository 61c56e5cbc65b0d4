/** `npm run docs`: writes the pages that are made from data, and the parts of pages. A unit test holds them equal. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withCommands } from "./commands";
import { withFieldTables } from "./field-tables";
import { withPermissionsTables } from "./permissions-table";
import { pluginSchema } from "./plugin-schema";
import { settingsPage } from "./settings-page";
import { storiesPage } from "./stories-page";

/** Their paths from here, and what to write for the page of today. */
export const generatedPages: Readonly<Record<string, (page: string) => string>> = {
    "../chaos/README.md": (page) => withFieldTables(page, "chaos/README.md"),
    "../chaos/schema.json": () => pluginSchema(),
    "cli.md": withCommands,
    "experiment-reference.md": (page) => withFieldTables(page, "docs/experiment-reference.md"),
    "permissions.md": withPermissionsTables,
    "settings.md": () => settingsPage(),
    "stories.md": () => storiesPage(),
};

if (require.main === module)
    for (const [name, written] of Object.entries(generatedPages)) {
        const page = join(__dirname, name);
        writeFileSync(page, written(readFileSync(page, "utf8")));
    }
