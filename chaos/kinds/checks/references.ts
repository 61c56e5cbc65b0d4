import { validateHeaderValue } from "node:http";
import { kubectlFor } from "../../values/kubectl";
import { type Cluster, statusOf } from "../../cluster/client";
import { explain, withoutPeriod } from "../../cluster/problem";
import {
    type CaReference,
    type EndpointSettings,
    failing,
    type FromSecrets,
    problemWithCa,
    type SecretReference,
} from "./endpoint-schema";
import { few, maxNamed } from "../../values/quoted";
import { otherResources, resources } from "../../cluster/resources";

/** Says to the person who wrote the check what is missing in the cluster, and what to do. */
export class MissingError extends Error {
    override readonly name = "MissingError";
}

/**
 * Reads the Secrets and ConfigMaps that a check names. The values stay in this process.
 *
 * @returns what is sent with each request, with prefixes; and what hides the values in a text
 * @throws MissingError that names what is not there
 */
export async function readReferences(cluster: Cluster, check: EndpointSettings & FromSecrets, namespace: string) {
    const secrets: string[] = [];
    const readAll = async (from: Record<string, SecretReference> = {}, problemWith?: ProblemWith) =>
        Object.fromEntries(
            await Promise.all(
                Object.entries(from).map(async ([name, reference]) => {
                    const value = await readSecret(cluster, { namespace, ...reference }, problemWith);
                    const whole = `${reference.prefix ?? ""}${value}`;
                    secrets.push(whole, value);
                    return [name, whole] as const;
                }),
            ),
        );
    const [ca, headers, query, body] = await Promise.all([
        check.caFrom ? readCa(cluster, { namespace, ...check.caFrom }) : check.ca,
        readAll(check.headersFrom, problemWithHeader),
        readAll(check.queryFrom),
        readAll(check.bodyFrom),
    ]);
    return { ...(ca !== undefined && { ca }), headers, query, body, hide: hiding(secrets) };
}

async function readCa(cluster: Cluster, reference: CaReference & { namespace: string }): Promise<string> {
    const { kind = "ConfigMap", name, key = "ca.crt", namespace } = reference;
    const pem = await readKey(cluster, { kind, namespace, name, key });
    const problem = problemWithCa(pem);
    if (problem) throw new MissingError(`key ${key} of ${kind} ${namespace}/${name} ${problem}`);
    return pem;
}

async function readSecret(
    cluster: Cluster,
    { secret, key, namespace }: SecretReference & { namespace: string },
    problemWith?: ProblemWith,
): Promise<string> {
    // Files end with a line break, and `kubectl create secret --from-file` keeps it.
    const value = (await readKey(cluster, { kind: "Secret", namespace, name: secret, key })).trim();
    const which = `key ${key} of Secret ${namespace}/${secret}`;
    if (value === "") throw new MissingError(`${which} is empty`);
    const problem = problemWith?.(value);
    if (problem) throw new MissingError(`${which} ${problem}`);
    return value;
}

/** Says what is wrong with a secret value, without the value. */
type ProblemWith = (value: string) => string | undefined;

const problemWithHeader: ProblemWith = (value) =>
    failing(
        () => validateHeaderValue("value", value),
        "cannot be a header: it has a line break or a control character",
    );

async function readKey(cluster: Cluster, { kind, namespace, name, key }: Required<CaReference>): Promise<string> {
    const read =
        kind === "Secret"
            ? cluster.read({ resource: otherResources.secret, namespace, name })
            : cluster.read({ resource: resources.configMap, namespace, name });
    const found = await read.catch((error: unknown) => rejectMissing(cluster, error, kind, namespace, name));
    const binary = "binaryData" in found ? found.binaryData : undefined;
    const keys: Record<string, string> = { ...found.data, ...binary };
    const value = keys[key];
    if (value === undefined) {
        const others = few(Object.keys(keys), maxNamed) || "none";
        throw new MissingError(`${kind} ${namespace}/${name} has no key ${key}; its keys are: ${others}`);
    }
    const isText = kind === "ConfigMap" && found.data?.[key] !== undefined;
    return isText ? value : Buffer.from(value, "base64").toString("utf8");
}

/** @throws MissingError in every case: the object or its namespace is missing, or the object cannot be read */
export async function rejectMissing(
    cluster: Cluster,
    error: unknown,
    kind: string,
    namespace: string,
    name: string,
): Promise<never> {
    if (statusOf(error) !== 404) throw new MissingError(withoutPeriod(explain(error)));
    await requireNamespace(cluster, namespace);
    const list = `${kubectlFor(cluster, namespace)} get ${kind.toLowerCase()}s`;
    throw new MissingError(
        `${kind} ${namespace}/${name} does not exist. Create it, or correct the check; see: ${list}`,
    );
}

/** Lists of a namespace that does not exist are empty. @throws MissingError, unless the account may not look */
export async function requireNamespace(cluster: Cluster, name: string): Promise<void> {
    const isMissing = await cluster.read({ resource: otherResources.namespace, name }).then(
        () => false,
        (error: unknown) => statusOf(error) === 404,
    );
    if (isMissing)
        throw new MissingError(
            `namespace ${name} does not exist. Create it, or name another one; see: ` +
                `${kubectlFor(cluster)} get namespaces`,
        );
}

/**
 * Hides secret values in texts that are shown or stored: as they are, without the scheme of a credential (`Bearer …`),
 * and as JSON, URLs, HTML and base64 have them.
 */
export function hiding(secrets: readonly string[]): (text: string) => string {
    const bare = secrets.flatMap((secret) => [secret, secret.replace(/^\S+\s+/, "")]);
    const forms = bare.flatMap((text) => [
        text,
        JSON.stringify(text).slice(1, -1),
        encodeURIComponent(text),
        encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
        ...inHtml(text),
        Buffer.from(text).toString("base64"),
    ]);
    // The longest come first: otherwise the rest of a longer one would show.
    const hidden = [...new Set(forms)].filter((form) => form !== "").sort((one, other) => other.length - one.length);
    return (text) => hidden.reduce((rest, form) => rest.replaceAll(form, "[secret]"), text);
}

/** Libraries write the apostrophe in different ways. */
const inHtml = (text: string) =>
    ["'", "&#39;", "&#x27;", "&#039;", "&apos;"].map((apostrophe) =>
        text.replace(/[&<>"']/g, (character) => entities[character] ?? apostrophe),
    );
const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
