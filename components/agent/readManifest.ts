import { type ManifestObject, readObjects } from "../manifest/read";

/**
 * Reads an agent's manifest, and fills it in.
 *
 * @param location path or URL
 * @throws Error that names what is wrong with it: not there, no YAML, no DaemonSet in it, not this stack's key
 */
export async function readManifest(location: string, key: string, clusterName: string): Promise<ManifestObject[]> {
    const shown = location.replaceAll(key, "[secret]");
    const mend = "mend it, or set another: pulumi config set agent.manifest 'PATH or URL'";
    const read = await readObjects(location).catch((error: Error) => {
        throw new Error(`agent.manifest is "${shown}", which ${error.message.replaceAll(key, "[secret]")}; ${mend}`);
    });
    // Once it is parsed: what a key is made of must not be read as YAML.
    const objects = withTexts(read, (value) =>
        value.replaceAll("<AGENT_KEY>", () => key).replaceAll("<cluster_name>", () => clusterName),
    );
    if (!objects.some(({ kind }) => kind === "DaemonSet")) {
        const found = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ") || "nothing";
        throw new Error(
            `agent.manifest is "${shown}", which has no DaemonSet: there is ${found}. Use the DaemonSet manifest from the platform's agent setup section; ${mend}`,
        );
    }
    // Only what is known to be a key can be kept from showing.
    const foreign = keyEntries(objects).find(([, value]) => !holds(value, key));
    if (foreign || !holdsKey(objects, key)) {
        const found = foreign
            ? `whose ${foreign[0]} is another key than agent.key`
            : "which holds neither agent.key nor the placeholder <AGENT_KEY>";
        throw new Error(
            `agent.manifest is "${shown}", ${found}, so that a key in it could show. Set the key that is in it: pulumi config set --secret agent.key`,
        );
    }
    return objects;
}

/** The same with each text in it, however deep, as `change` makes it. */
function withTexts<T>(value: T, change: (text: string) => string): T {
    if (typeof value === "string") return change(value) as T;
    if (Array.isArray(value)) return value.map((inner) => withTexts(inner, change)) as T;
    if (value?.constructor !== Object) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withTexts(inner, change)])) as T;
}

function holds(text: string, key: string): boolean {
    return text.includes(key) || text.includes(Buffer.from(key).toString("base64"));
}

/** Whether the key is anywhere in a value, as it is or encoded as Secrets hold it. */
export function holdsKey(value: unknown, key: string): boolean {
    if (typeof value === "string") return holds(value, key);
    return typeof value === "object" && value !== null && Object.values(value).some((inner) => holdsKey(inner, key));
}

const calledKey = /^(?:.*agent[-_.]?)?key$/i;

/** Names and values of what is called a key: entries of Secrets, and containers' environment variables. */
function keyEntries(objects: readonly ManifestObject[]): [string, string][] {
    const secrets = objects.filter(({ kind }) => kind === "Secret");
    const entries = secrets.flatMap(
        ({ data, stringData }) =>
            Object.entries({ ...(data as object), ...(stringData as object) }) as [string, unknown][],
    );
    return [...entries, ...variablesIn(objects)].filter(
        (entry): entry is [string, string] => calledKey.test(entry[0]) && typeof entry[1] === "string",
    );
}

function variablesIn(part: unknown): [string, unknown][] {
    if (typeof part !== "object" || part === null) return [];
    const { name, value } = part as { name?: unknown; value?: unknown };
    const own: [string, unknown][] = typeof name === "string" && value !== undefined ? [[name, value]] : [];
    return [...own, ...Object.values(part).flatMap(variablesIn)];
}
