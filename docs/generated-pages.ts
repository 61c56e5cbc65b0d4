import { withCommands } from "./commands";
import { withPermissionsTables } from "./permissions-table";
import { settingsPage } from "./settings-page";
import { storiesPage } from "./stories-page";

/** The pages in this folder that are made from data, or parts of them: what to write, for the page of today. */
export const generatedPages: Readonly<Record<string, (page: string) => string>> = {
    "cli.md": withCommands,
    "permissions.md": withPermissionsTables,
    "settings.md": () => settingsPage(),
    "stories.md": () => storiesPage(),
};
