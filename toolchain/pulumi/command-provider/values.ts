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
    return Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Parameters<typeof Struct.fromJavaScript>[0]);
}

export function secret(value: Value): Value {
    return { [SIGNATURE]: SECRET, value };
}

/** Whether there is a secret at any depth. In a text, the quotation marks would be escaped. */
export function holdsSecret(value: Value): boolean {
    return JSON.stringify(value).includes(`"${SIGNATURE}":"${SECRET}"`);
}

/** The value with all secrets unwrapped. */
export function plain(value: Value): Value {
    const unwrapped = (each: Properties | null) => (each?.[SIGNATURE] === SECRET ? each.value : each);
    return JSON.parse(JSON.stringify(value), (_, each: Properties | null) => unwrapped(each)) as Value;
}
