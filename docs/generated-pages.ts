import { journalJsonSchema } from "../chaos/report/journal-schema";
import { withCommands } from "./commands";
import { withFieldTables } from "./field-tables";
import { withPermissionsTables } from "./permissions-table";
import { settingsPage } from "./settings-page";
import { storiesPage } from "./stories-page";

/** The pages made from data, whole or in part, by their paths from here: what to write for the page of today. */
export const generatedPages: Readonly<Record<string, (page: string) => string>> = {
    "../chaos/report/journal.schema.json": () => `${JSON.stringify(journalJsonSchema(), null, 4)}\n`,
    "../chaos/README.md": (page) => withFieldTables(page, "chaos/README.md"),
    "cli.md": withCommands,
    "experiment-reference.md": (page) => withFieldTables(page, "docs/experiment-reference.md"),
    "permissions.md": withPermissionsTables,
    "settings.md": () => settingsPage(),
    "stories.md": () => storiesPage(),
};
