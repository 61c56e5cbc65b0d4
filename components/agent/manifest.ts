import * as pulumi from "@pulumi/pulumi";
import { labels } from "../../chaos/cluster/labels";
import type { Workloads } from "../cluster/ready";
import { declareObjects } from "../manifest/declared-object";
import type { PlacedObject } from "../manifest/kinds";
import { type ManifestObject, readObjects } from "../manifest/read";
import { pulumiCommand, setCommand } from "../pulumi-command";

/**
 * Reads an agent's manifest and replaces its placeholders.
 *
 * @param location path or URL
 * @throws Error if it cannot be read, is not YAML, or lacks a DaemonSet or this stack's key
 */
export async function readManifest(location: string, key: string, clusterName: string): Promise<ManifestObject[]> {
    const shown = location.replaceAll(key, "[secret]");
    const fix = `fix it, or set another: ${setCommand("agent.manifest", "PATH or URL")}`;
    const read = await readObjects(location).catch((error: Error) => {
        throw new Error(`agent.manifest is "${shown}", which ${error.message.replaceAll(key, "[secret]")}; ${fix}`);
    });
    // After parsing: a key must not be read as YAML.
    const objects = JSON.parse(JSON.stringify(read), (_, value: unknown) =>
        typeof value === "string"
            ? value.replaceAll("<AGENT_KEY>", () => key).replaceAll("<cluster_name>", () => clusterName)
            : value,
    ) as ManifestObject[];
    if (!objects.some(({ kind }) => kind === "DaemonSet")) {
        const found = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ") || "nothing";
        throw new Error(
            `agent.manifest is "${shown}", which has no DaemonSet; it contains ${found}. ` +
                `Use the DaemonSet manifest from the platform's agent setup section; ${fix}`,
        );
    }
    // The program can hide only a key that it knows.
    const foreign = keyEntries(objects).find(([, value]) => !holds(value, key));
    if (foreign || !holdsKey(objects, key)) {
        const found = foreign
            ? `whose ${foreign[0]} is a different key than agent.key`
            : "which contains neither agent.key nor the placeholder <AGENT_KEY>";
        throw new Error(
            `agent.manifest is "${shown}", ${found}: a key in it would not be hidden. ` +
                `Set the manifest's key: ${pulumiCommand(["config", "set", "--secret", "agent.key"])}`,
        );
    }
    return objects;
}

function holds(text: string, key: string): boolean {
    return text.includes(key) || text.includes(Buffer.from(key).toString("base64"));
}

/** Whether a value contains the key, in plain text or base64-encoded as in Secrets. */
function holdsKey(value: unknown, key: string): boolean {
    if (typeof value === "string") return holds(value, key);
    return typeof value === "object" && value !== null && Object.values(value).some((inner) => holdsKey(inner, key));
}

const keyName = /^(?:.*agent[-_.]?)?key$/i;

/** Secret entries and environment variables whose names say that they are keys, with their values. */
function keyEntries(objects: readonly ManifestObject[]): [string, string][] {
    const secrets = objects.filter(({ kind }) => kind === "Secret");
    const entries = secrets.flatMap(({ data, stringData }) =>
        Object.entries<unknown>({ ...(data as object), ...(stringData as object) }),
    );
    return [...entries, ...variablesIn(objects)].filter(
        (entry): entry is [string, string] => keyName.test(entry[0]) && typeof entry[1] === "string",
    );
}

function variablesIn(part: unknown): [string, unknown][] {
    if (typeof part !== "object" || part === null) return [];
    const { name, value } = part as { name?: unknown; value?: unknown };
    const own: [string, unknown][] = typeof name === "string" && value !== undefined ? [[name, value]] : [];
    return [...own, ...Object.values(part).flatMap(variablesIn)];
}

export interface ManifestAgentArgs {
    /** The agent's. All objects in namespaces are created after it. */
    namespace: pulumi.Input<string>;
    objects: readonly PlacedObject[];
    /** Every field that contains it becomes a secret. */
    key: string;
    /** By which the stack knows the objects again that are in no namespace of its own. @default none */
    marks?: Record<string, pulumi.Input<string>>;
}

// What other objects may be of or in. In an update that deletes, they go last.
const first = ["Namespace", "CustomResourceDefinition"];

/** The objects of an agent's manifest, each a resource of the stack. @returns resolves when they are in the cluster */
export function manifestAgent(
    name: string,
    { namespace, objects, key, marks }: ManifestAgentArgs,
    opts?: pulumi.ComponentResourceOptions,
): pulumi.Output<unknown> {
    const parent = new pulumi.ComponentResource("chaos-shop:agent:ManifestAgent", name, {}, opts);
    const isNamespace = ({ kind }: ManifestObject) => kind === "Namespace";
    const namespaceOf = new Map(objects.map((placed) => [placed.object, placed.namespace]));
    const argsOf = (object: ManifestObject) => ({
        labels: isNamespace(object) ? { ...object.metadata.labels, [labels.protected]: "true" } : undefined,
        // Depends on the agent's namespace even if the object names it itself.
        namespace: namespaceOf.get(object) && pulumi.output(namespace).apply(() => namespaceOf.get(object)!),
        annotations: marks,
        isSecret: (value: unknown) => holdsKey(value, key),
    });
    return declareObjects("agent", [...namespaceOf.keys()], ({ kind }) => first.includes(kind), argsOf, { parent });
}

export function daemonSetsOf(manifest: readonly PlacedObject[]): Workloads[] {
    const daemonSets = manifest.filter(({ object }) => object.kind === "DaemonSet");
    return daemonSets.map(({ object, namespace }) => ({
        namespace: namespace!,
        includes: ({ name }) => name === object.metadata.name,
    }));
}
