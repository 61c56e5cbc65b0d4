/** `npm run docs:stories`: writes docs/stories.md, which a unit test holds equal to the saved experiments. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { storiesPage } from "./stories-page";

writeFileSync(join(__dirname, "stories.md"), storiesPage());
