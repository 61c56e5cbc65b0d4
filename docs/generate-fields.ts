/** `npm run docs:fields`: writes the tables of fields into the pages, which a unit test holds equal to the types. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pagesWithFields, withFieldTables } from "./field-tables";

for (const page of pagesWithFields) writeFileSync(join(__dirname, "..", page), withFieldTables(page));
