import { Struct } from "google-protobuf/google/protobuf/struct_pb";

/** A property in Pulumi's wire format: JSON, with marked objects for secrets. */
export type Value = null | boolean | number | string | readonly Value[] | Properties;

export interface Properties {
    readonly [name: string]: Value | undefined;
}

// The marks are part of Pulumi's wire format (sdk/proto, "property value signatures").
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** A value of any type that is known only after the update, as the Node SDK sends it. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export function fromStruct(struct: Struct | undefined): Properties {
    return struct?.toJavaScript() ?? {};
}

/** Without undefined properties. */
export function toStruct(properties: Properties): Struct {
    const defined = Object.entries(properties).filter(([, value]) => value !== undefined);
    return Struct.fromJavaScript(Object.fromEntries(defined) as Parameters<typeof Struct.fromJavaScript>[0]);
}

function isObject(value: Value | undefined): value is Properties {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSecret(value: Value | undefined): value is Properties & { readonly value: Value } {
    return isObject(value) && value[SIGNATURE] === SECRET;
}

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
