import { Struct } from "google-protobuf/google/protobuf/struct_pb";

/** A property in Pulumi's wire format: JSON, with marked objects for secrets. */
export type Value = null | boolean | number | string | readonly Value[] | Properties;

export interface Properties {
    readonly [name: string]: Value | undefined;
}

// The marks are part of Pulumi's wire format (sdk/proto, "property value signatures").
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** A value that is known only after the update. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The wire format has one such string per type. */
const UNKNOWNS: ReadonlySet<unknown> = new Set([
    UNKNOWN,
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", // boolean
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421", // number
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", // array
    "030794c1-ac77-496b-92df-f27374a8bd58", // asset
    "e48ece36-62e2-4504-bad9-02848725956a", // archive
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff", // object
]);

export function fromStruct(struct: Struct | undefined): Properties {
    return struct?.toJavaScript() ?? {};
}

/** Without undefined properties. */
export function toStruct(properties: Properties): Struct {
    const defined = Object.entries(properties).filter(([, value]) => value !== undefined);
    return Struct.fromJavaScript(Object.fromEntries(defined) as Parameters<typeof Struct.fromJavaScript>[0]);
}

export function isUnknown(value: Value | undefined): boolean {
    return UNKNOWNS.has(value);
}

export function isObject(value: Value | undefined): value is Properties {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSecret(value: Value | undefined): value is Properties & { readonly value: Value } {
    return isObject(value) && value[SIGNATURE] === SECRET;
}

/** Whether a value is or contains a secret. */
export function holdsSecret(value: Value | undefined): boolean {
    return isSecret(value) || children(value).some(holdsSecret);
}

/** The value with all secrets unwrapped. */
export function plain(value: Value): Value {
    if (isSecret(value)) return plain(value.value);
    if (Array.isArray(value)) return value.map(plain);
    return isObject(value) ? plainProperties(value) : value;
}

export function plainProperties(properties: Properties): Properties {
    const entries = Object.entries(properties).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, plain(value)] as const],
    );
    return Object.fromEntries(entries);
}

export function secret(value: Value): Value {
    return { [SIGNATURE]: SECRET, value };
}

function children(value: Value | undefined): (Value | undefined)[] {
    if (Array.isArray(value)) return [...(value as readonly Value[])];
    return isObject(value) ? Object.values(value) : [];
}
