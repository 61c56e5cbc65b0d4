import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { actionKinds } from "../chaos/kinds/actions/registry";
import { attackKinds } from "../chaos/kinds/attacks/registry";
import { checkKinds } from "../chaos/kinds/checks/registry";
import { tableOf, withPart } from "./markdown";

/**
 * The tables of fields in the pages, written from the interfaces and what editors show of them: their comments. The
 * schemas that check definitions satisfy these interfaces.
 */

const repository = join(__dirname, "..");

/** What a reader calls a type, where its name does not say it. */
const words: Record<string, string> = {
    AttributeExpression: "[target](experiment-reference.md#targets)",
    Address: "[address](experiment-reference.md#addresses)",
    AttackDefinition: "[attack](experiment-reference.md#attacks)",
    Check: "[check](experiment-reference.md#checks)",
    Action: "[action](experiment-reference.md#actions)",
    JsonExpectation: "[expectation](experiment-reference.md#json-expectations)",
    CaReference: "object",
    SecretReference: "[value](experiment-reference.md#values-from-secrets)",
    Story: "[story](experiment-reference.md#stories)",
    Lesson: "[lesson](stories.md)",
    Duration: "duration",
    GrpcStatus: "text",
};

export type Declaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

/** The interfaces and types that experiments are written with, by name. */
export function declarations(): Map<string, Declaration> {
    const files = ["chaos", "experiments"].flatMap((folder) =>
        readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" })
            .filter((file) => /(?<!\.d)\.ts$/.test(file) && !/(?:^|\/)(?:node_modules|dist)\//.test(file))
            .map((file) => join(repository, folder, file)),
    );
    return new Map(
        files.flatMap((file) =>
            ts
                .createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
                .statements.filter((one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
                .map((one) => [one.name.text, one] as const),
        ),
    );
}

/** The text of a page with its tables written again. @param path of the page, relative to the repository */
export function withFieldTables(page: string, path: string): string {
    const known = declarations();
    const parts = page.matchAll(/^<!-- ((Fields|Kinds) of ([\w, ]+)): /gm);
    return [...parts].reduce((text, [, part, what, names]) => {
        const rows = what === "Fields" ? fieldTable(names!.split(", "), known) : kindTable(names!, known);
        return withPart(text, part!, tableOf(rows.map((row) => row.map((cell) => relink(cell, path)))));
    }, page);
}

/** Links are written as from docs/. */
function relink(text: string, path: string): string {
    const page = path.replace(/^docs\//, "");
    return page === path ? text.replaceAll("](", "](../docs/") : text.replaceAll(`](${page}#`, "](#");
}

const fieldTable = (names: readonly string[], known: ReadonlyMap<string, Declaration>) => [
    ["field", "type", "default", "meaning"],
    // What one interface says again, such as that a field is required, takes the place of what another said.
    ...new Map(names.flatMap((name) => rowsOf(name, known, "")).map((row) => [row[0], row])).values(),
];

/** By the name of the type. A kind `dns` of `Attack` is the interface `DnsAttack`. */
const kindsOf: Record<string, readonly string[]> = { Attack: attackKinds, Check: checkKinds, Action: actionKinds };

/** The kinds of an attack, check or action, in the order of the registry. */
function kindTable(union: string, known: ReadonlyMap<string, Declaration>): string[][] {
    const rows = kindsOf[union]!.map((name) => {
        const found = known.get(name.charAt(0).toUpperCase() + name.slice(1) + union) as ts.InterfaceDeclaration;
        const comment = ts.getJSDocCommentsAndTags(found)[0] as ts.JSDoc;
        const first = textOf(comment.comment).replace(/(?<=\.) .*/, "");
        return [`[\`${name}\`](experiment-reference.md#${name.toLowerCase()})`, first];
    });
    return [["kind", "what it does"], ...rows];
}

/** A row for each field of an interface or a type that is declared, and for those of the objects in it. */
function rowsOf(name: string, known: ReadonlyMap<string, Declaration>, prefix: string): string[][] {
    const found = known.get(name);
    if (found === undefined) throw new Error(`no interface ${name} is declared`);
    const members = ts.isInterfaceDeclaration(found) ? found.members : (found.type as ts.TypeLiteralNode).members;
    return fieldsOf(members, known, prefix);
}

function fieldsOf(
    members: ts.NodeArray<ts.TypeElement>,
    known: ReadonlyMap<string, Declaration>,
    prefix: string,
): string[][] {
    return members.filter(ts.isPropertySignature).flatMap((member) => {
        const [comment, tags] = [ts.getJSDocCommentsAndTags(member)[0], ts.getJSDocTags(member)];
        const key = prefix + (member.name as ts.Identifier).text;
        const type = member.type!;
        const isKind = prefix === "" && key === "kind" && ts.isLiteralTypeNode(type);
        if (isKind || tags.some(({ tagName }) => tagName.text === "internal")) return [];
        const standard = tags.find(({ tagName }) => tagName.text === "default");
        const meaning = comment && ts.isJSDoc(comment) ? textOf(comment.comment) : "";
        const shown = standard ? asCode(textOf(standard.comment)) : member.questionToken ? "" : "required";
        return [[`\`${key}\``, typeInWords(type, known), shown, meaning], ...innerRows(type, known, `${key}.`)];
    });
}

/** The rows of an object's own fields, as in `window.duration`. */
function innerRows(type: ts.TypeNode, known: ReadonlyMap<string, Declaration>, prefix: string): string[][] {
    if (ts.isTypeLiteralNode(type)) return fieldsOf(type.members, known, prefix);
    if (ts.isUnionTypeNode(type)) return type.types.flatMap((one) => innerRows(one, known, prefix));
    if (!ts.isTypeReferenceNode(type)) return [];
    const name = type.typeName.getText();
    if (name === "Record") return innerRows(type.typeArguments![1]!, known, `${prefix}NAME.`);
    const found = name in words ? undefined : known.get(name);
    if (found === undefined) return [];
    return ts.isInterfaceDeclaration(found) ? rowsOf(name, known, prefix) : innerRows(found.type, known, prefix);
}

function typeInWords(type: ts.TypeNode, known: ReadonlyMap<string, Declaration>): string {
    if (ts.isParenthesizedTypeNode(type)) return typeInWords(type.type, known);
    if (ts.isUnionTypeNode(type)) return oneOf(type.types.map((one) => typeInWords(one, known)));
    if (ts.isNamedTupleMember(type)) return typeInWords(type.type, known);
    if (ts.isArrayTypeNode(type)) return `list of ${plural(typeInWords(type.elementType, known))}`;
    if (ts.isTupleTypeNode(type))
        return `list of ${type.elements.length} ${plural(typeInWords(type.elements[0]!, known))}`;
    if (ts.isLiteralTypeNode(type)) return `\`${type.getText()}\``;
    if (ts.isTemplateLiteralTypeNode(type)) return "percentage";
    if (ts.isTypeLiteralNode(type)) return "object";
    if (!ts.isTypeReferenceNode(type)) return type.getText().replace("string", "text");
    const name = type.typeName.getText();
    if (words[name] !== undefined) return words[name];
    if (name === "Record") return `object of ${plural(typeInWords(type.typeArguments![1]!, known))}`;
    if (name === "pulumi.Input") return typeInWords(type.typeArguments![0]!, known);
    const found = known.get(name);
    return found && ts.isTypeAliasDeclaration(found) ? typeInWords(found.type, known) : "object";
}

const oneOf = (each: readonly string[]) => [each.slice(0, -1).join(", "), each.at(-1)].join(" or ");

/** The first word of a type, or of its link, in the plural. */
const plural = (type: string) => type.replace(/^\[?\w+/, (word) => word + (word.endsWith("s") ? "es" : "s"));

export const textOf = (comment: string | ts.NodeArray<ts.JSDocComment> | undefined) =>
    (ts.getTextOfJSDocComment(comment) ?? "").replace(/\s+/g, " ").trim();

/** A default that is a value, and not a sentence. */
const asCode = (text: string) => (/^(?:".*"|\[.*\]|[\d_]+|true|false)$/.test(text) ? `\`${text}\`` : text);
