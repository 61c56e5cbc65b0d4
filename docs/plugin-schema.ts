import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import * as z from "zod";
import { argumentsSchema } from "../chaos/definition/arguments";
import { podSchema } from "../chaos/definition/pod-mistakes";
import type { ExperimentOptions } from "../chaos/face/experiment";
import { conclusionSchema } from "../chaos/report/conclusion";
import { type Declaration, declarations, textOf } from "./field-tables";

/**
 * chaos/schema.json: what programs in Python, Go and YAML may say of an experiment, for `pulumi package add`. The
 * schemas that check definitions give its structure; the interfaces that they satisfy give names and descriptions.
 */

/** As `z.toJSONSchema` writes them. */
interface Json {
    type?: string | string[];
    const?: unknown;
    enum?: unknown[];
    description?: string;
    properties?: Record<string, Json>;
    required?: string[];
    items?: Json;
    prefixItems?: Json[];
    additionalProperties?: Json | boolean;
    anyOf?: Json[];
    oneOf?: Json[];
}

/** As Pulumi's schemas have them. */
interface Spec {
    type?: string;
    $ref?: string;
    items?: Spec;
    additionalProperties?: Spec;
    oneOf?: Spec[];
    discriminator?: object;
    plain?: boolean;
}
interface PropertySpec extends Spec {
    description?: string;
    const?: unknown;
    secret?: boolean;
}
interface ObjectSpec {
    description?: string;
    type: "object";
    properties: Record<string, PropertySpec>;
    required: string[];
}

const token = (name: string) => `chaos-experiments:index:${name}`;
const anything: Spec = { $ref: "pulumi.json#/Any" };
const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** All that a program in another language may give, so a new option cannot be left out. */
const otherOptions = {
    // The class that Pulumi generates for Python would refuse a missing one, before anything is ended.
    enabled: z.boolean().optional(),
    kubeconfig: z.string().optional(),
    context: z.string().optional(),
    image: z.string().optional(),
    pod: podSchema.optional(),
} satisfies Record<Exclude<keyof ExperimentOptions, "identity" | "programs">, z.ZodType>;

/** The arguments of an experiment, in the order in which they are shown. */
const { enabled, ...others } = otherOptions;
const argumentsOfProgram = z.strictObject({ enabled, ...argumentsSchema.shape, ...others });

/**
 * What may be an output of another resource, and is kept as a secret. Everything else is a plain value, so that a
 * preview can show it.
 */
const secretOutputs = new Set(["kubeconfig"]);

const isNullable = ({ type, anyOf = [] }: Json): boolean => [type].flat().includes("null") || anyOf.some(isNullable);

const jsonOf = (schema: z.ZodType): Json =>
    z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as unknown as Json;

/** @returns the text of chaos/schema.json */
export function pluginSchema(): string {
    const { version, description } = JSON.parse(
        readFileSync(join(__dirname, "..", "chaos", "package.json"), "utf8"),
    ) as { version: string; description: string };
    const known = declarations();
    const component = componentParts();
    const [inputs, results] = [new Types(known, true), new Types(known, false)];
    const args = inputs.objectOf(jsonOf(argumentsOfProgram), "Experiment", ["ExperimentOptions", "DefinedExperiment"]);
    const conclusion = results.typeOf(jsonOf(conclusionSchema), "Conclusion", undefined);
    for (const name of secretOutputs) {
        delete args.properties[name]!.plain;
        args.properties[name]!.secret = true;
    }
    const schema = {
        name: "chaos-experiments",
        displayName: "Chaos Experiments",
        version,
        description,
        license: "Apache-2.0",
        language: {
            python: {
                packageName: "pulumi_chaos_experiments",
                pyproject: { enabled: true },
                respectSchemaVersion: true,
            },
            go: { respectSchemaVersion: true },
            nodejs: { respectSchemaVersion: true },
            csharp: { respectSchemaVersion: true },
        },
        types: { ...inputs.types, ...results.types },
        resources: {
            [token("Experiment")]: {
                isComponent: true,
                description: commentOf(component.get("Experiment"))!,
                inputProperties: args.properties,
                requiredInputs: args.required,
                properties: {
                    verdict: { type: "string", description: commentOf(component.get("verdict"))! },
                    conclusion: { ...conclusion, description: commentOf(component.get("conclusion"))! },
                },
                required: ["verdict"],
            },
        },
    };
    return `${JSON.stringify(schema, null, 1)}\n`;
}

/** The class of the component and its members, by name. */
function componentParts(): Map<string, ts.Node> {
    const file = join(__dirname, "..", "chaos", "face", "experiment.ts");
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    const found = source.statements.find(ts.isClassDeclaration)!;
    return new Map([found, ...found.members].map((node) => [node.name?.getText() ?? "", node] as const));
}

class Types {
    readonly types: Record<string, ObjectSpec> = {};

    /** @param plain whether programs give these values, which must be known when a preview runs */
    constructor(
        private readonly known: ReadonlyMap<string, Declaration>,
        private readonly plain: boolean,
    ) {}

    /** @param names of the interfaces that describe its fields */
    objectOf({ properties = {}, required = [] }: Json, name: string, names: readonly string[]): ObjectSpec {
        const members = new Map(names.flatMap((one) => [...this.membersOf(one)]));
        return {
            type: "object",
            properties: Object.fromEntries(
                Object.entries(properties).map(([key, json]) => [
                    key,
                    this.propertyOf(json, name, key, members.get(key)),
                ]),
            ),
            // What may be null would be 0 in Go.
            required: required.filter((key) => key in properties && !isNullable(properties[key]!)),
        };
    }

    private propertyOf(json: Json, name: string, key: string, member: ts.PropertySignature | undefined): PropertySpec {
        if (json.const !== undefined) return { type: typeof json.const, const: json.const };
        const allowed = json.enum && `Allowed: ${json.enum.map((one) => `\`${String(one)}\``).join(", ")}.`;
        const description = [commentOf(member) ?? json.description, allowed, defaultOf(member)]
            .filter(Boolean)
            .join(" ");
        return { ...this.typeOf(json, name + capitalized(key), member?.type), ...(description && { description }) };
    }

    /** @param name of the type if it is an object without an interface of its own */
    typeOf(json: Json, name: string, type: ts.TypeNode | undefined): Spec {
        const spec = this.specOf(json, name, type);
        return this.plain ? { ...spec, plain: true } : spec;
    }

    private specOf(json: Json, name: string, type: ts.TypeNode | undefined): Spec {
        const choices = Array.isArray(json.type) ? json.type.map((one) => ({ type: one })) : (json.oneOf ?? json.anyOf);
        if (choices) return this.unionOf(choices, name, type);
        if (json.type === "array") {
            const items = json.items ?? json.prefixItems![0]!;
            return { type: "array", items: this.typeOf(items, name, elementOf(type)) };
        }
        if (json.properties && Object.keys(json.properties).length > 0) return this.referenceTo(json, name, type);
        if (json.type === "object") {
            const { additionalProperties: value } = json;
            const isTyped = typeof value === "object" && Object.keys(value).length > 0;
            return {
                type: "object",
                additionalProperties: isTyped ? this.typeOf(value, name, elementOf(type)) : anything,
            };
        }
        return json.type === undefined ? anything : { type: json.type as string };
    }

    private unionOf(choices: readonly Json[], name: string, type: ts.TypeNode | undefined): Spec {
        const some = choices.filter((choice) => choice.type !== "null");
        if (some.length === 1) return this.specOf(some[0]!, name, type);
        const [first] = some;
        if (first?.properties?.kind?.const !== undefined) return this.kindsOf(some, name);
        const resolved = this.resolved(type);
        const all = some.flatMap((choice, index) => {
            const spec = this.typeOf(choice, name, alternative(resolved, index));
            return spec.oneOf ?? [spec];
        });
        return { oneOf: [...new Map(all.map((one) => [JSON.stringify(one), one])).values()] };
    }

    /** A kind `dns` of `Attack` is the interface `DnsAttack`. What begins a run is a check. */
    private kindsOf(choices: readonly Json[], name: string): Spec {
        const last = name.replace(/^.*(?=Attack|Check|Action)/, "").replace(/s$/, "");
        const union = last === "BeginSettingsWhen" ? "Check" : last;
        const named = choices.map((choice) => {
            const kind = String(choice.properties!.kind!.const);
            return { kind, ref: this.define(capitalized(kind) + union, choice) };
        });
        const mapping = Object.fromEntries(named.map(({ kind, ref }) => [kind, ref]));
        return {
            oneOf: named.map(({ ref }) => ({ $ref: ref, ...(this.plain && { plain: true }) })),
            discriminator: { propertyName: "kind", mapping },
        };
    }

    private referenceTo(json: Json, name: string, type: ts.TypeNode | undefined): Spec {
        const resolved = this.resolved(type);
        const referred = resolved && ts.isTypeReferenceNode(resolved) ? resolved.typeName.getText() : undefined;
        const literal = resolved && ts.isTypeLiteralNode(resolved) ? resolved : undefined;
        return {
            $ref: this.define(referred !== undefined && this.known.has(referred) ? referred : name, json, literal),
        };
    }

    /** What several kinds say of how they are aimed is in interfaces of its own. */
    private define(name: string, json: Json, literal?: ts.TypeLiteralNode): string {
        const besides = name.endsWith("Attack") ? ["Aimed", "AttackOptions"] : [];
        if (literal) this.literals.set(name, literal);
        const spec = this.objectOf(json, name, [name, ...besides]);
        const description = commentOf(this.known.get(name)) ?? json.description;
        const defined = { ...(description && { description }), ...spec };
        const before = this.types[token(name)];
        if (before && JSON.stringify(before) !== JSON.stringify(defined))
            throw new Error(`two types are named ${name}`);
        this.types[token(name)] = defined;
        return `#/types/${token(name)}`;
    }

    private readonly literals = new Map<string, ts.TypeLiteralNode>();

    /** The fields of an interface or a type, and of what it extends. */
    private membersOf(name: string): Map<string, ts.PropertySignature> {
        const found = this.literals.get(name) ?? this.known.get(name);
        if (found === undefined) return new Map();
        if (ts.isTypeAliasDeclaration(found)) return this.membersOfType(found.type);
        const extended = ts.isInterfaceDeclaration(found) ? (found.heritageClauses ?? []) : [];
        const inherited = extended.flatMap(({ types }) =>
            types.flatMap(({ expression, typeArguments }) => [
                // Of another type, `Omit` and `Pick` leave some of its fields.
                ...this.membersOf((typeArguments?.[0] ?? expression).getText()),
            ]),
        );
        const own = found.members
            .filter(ts.isPropertySignature)
            .map((member) => [member.name.getText(), member] as const);
        return new Map([...inherited, ...own]);
    }

    private membersOfType(type: ts.TypeNode): Map<string, ts.PropertySignature> {
        if (!ts.isTypeReferenceNode(type)) return new Map();
        const name = type.typeName.getText();
        const [first] = type.typeArguments ?? [];
        return name === "Pick" ? this.membersOfType(first!) : this.membersOf(name);
    }

    /** Without a name for a union or another type. */
    private resolved(type: ts.TypeNode | undefined): ts.TypeNode | undefined {
        if (type === undefined || !ts.isTypeReferenceNode(type)) return type;
        const found = this.known.get(type.typeName.getText());
        const isNamed = found && ts.isTypeAliasDeclaration(found) && ts.isUnionTypeNode(found.type);
        return isNamed ? found.type : type;
    }
}

/** The type of the elements of a list, or of the values of a record. */
function elementOf(type: ts.TypeNode | undefined): ts.TypeNode | undefined {
    if (type === undefined) return undefined;
    if (ts.isArrayTypeNode(type)) return type.elementType;
    return ts.isTypeReferenceNode(type) && type.typeName.getText() === "Record" ? type.typeArguments?.[1] : undefined;
}

/** The type of an alternative of a union, which the schema has in the same order. */
const alternative = (type: ts.TypeNode | undefined, index: number) =>
    type && ts.isUnionTypeNode(type) ? type.types[index] : undefined;

function commentOf(node: ts.Node | undefined): string | undefined {
    const [comment] = node ? ts.getJSDocCommentsAndTags(node) : [];
    const text = comment && ts.isJSDoc(comment) ? textOf(comment.comment) : "";
    return text === "" ? undefined : text;
}

function defaultOf(member: ts.PropertySignature | undefined): string | undefined {
    const standard = member && ts.getJSDocTags(member).find(({ tagName }) => tagName.text === "default");
    return standard && `Default: ${textOf(standard.comment)}.`;
}
