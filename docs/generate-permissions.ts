/** `npm run docs:permissions`: writes the tables in docs/permissions.md, which a unit test holds equal to the data. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withPermissionsTables } from "./permissions-table";

const page = join(__dirname, "permissions.md");
writeFileSync(page, withPermissionsTables(readFileSync(page, "utf8")));
