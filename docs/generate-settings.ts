/** `npm run docs:settings`: writes docs/settings.md, which a unit test holds equal to the settings. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { settingsPage } from "./settings-page";

writeFileSync(join(__dirname, "settings.md"), settingsPage());
