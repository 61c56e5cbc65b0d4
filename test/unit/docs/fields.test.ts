import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { actionSchema } from "../../../chaos/kinds/actions/registry";
import { attackSchema } from "../../../chaos/kinds/attacks/registry";
import { checkSchema } from "../../../chaos/kinds/checks/registry";
import { definitionSchema } from "../../../chaos/definition/definition";

const project = resolve(__dirname, "..", "..", "..");
const reference = readFileSync(join(project, "docs", "experiment-reference.md"), "utf8");

/** The text below a heading, up to the next one of its level or above. */
function section(heading: string): string {
    const [, level] = /^(#+)/.exec(heading)!;
    const rest = reference.slice(reference.indexOf(`\n${heading}\n`) + heading.length + 2);
    return rest.split(new RegExp(`^#{1,${level!.length}} `, "m"))[0]!;
}
const fieldsIn = (text: string) => [...text.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, field]) => field);
const fieldsOf = ({ shape }: z.ZodObject) => Object.keys(shape).filter((field) => field !== "kind");

describe.each([
    ["Attacks", attackSchema],
    ["Checks", checkSchema],
    ["Actions", actionSchema],
] as unknown as [string, z.ZodDiscriminatedUnion<z.ZodObject<{ kind: z.ZodLiteral<string> }>[]>][])(
    "the part of the reference on %s",
    (title, { options }) => {
        const common = section(`## ${title}`).split(/^### /m)[0]!;

        it.each(options.map((schema) => [schema.shape.kind.value, schema] as const))(
            "has each field of %s that the schema allows, and the kind in its list",
            (kind, schema) => {
                const isAsked = "url" in schema.shape;
                // What is asked over HTTP is listed with the check `http`.
                const http = isAsked ? section("### http") : "";
                const listed = fieldsIn(common + http + section(`### ${kind}`));
                expect(listed).toEqual(expect.arrayContaining(fieldsOf(schema)));
                expect(common).toContain(`| [\`${kind}\`](#${kind.toLowerCase()}) `);
            },
        );
    },
);

it("the reference has each field of a definition", () => {
    expect(fieldsIn(section("## Definition"))).toEqual(expect.arrayContaining(fieldsOf(definitionSchema)));
});
