import { resourcesInState } from "../../../toolchain/pulumi-internals";
import { guardedObject } from "../../agent/foreign-objects";
import { kindsOf, placeOf } from "../../manifest/kinds";
import type { ManifestObject } from "../../manifest/read";
import { type Reader, readerFor } from "../reading";
import { type GuardedObject, type GuardedStack, whyNotDestroy } from "./refusal";

/**
 * Checks, before an update moves the stack to another cluster, that what it deletes first is the stack's own. The
 * engine deletes all objects of the state by their names, through the context of the state's provider. That may lead
 * to another cluster by now: to this one, if the cluster was recreated, where the names may be another stack's.
 *
 * @param now the stack in the cluster that the update is for
 * @throws Error that names what is somebody else's, and the commands that resolve it
 */
export async function requireOwnLeft(now: Omit<GuardedStack, "namespaces">): Promise<void> {
    const resources = await resourcesInState();
    const [, provider] =
        Object.entries(resources).find(
            ([urn, { type }]) => type === "pulumi:providers:kubernetes" && urn.endsWith("::cluster"),
        ) ?? [];
    const { context, clusterIdentifier: uid } = (provider?.outputs ?? {}) as Record<string, string>;
    if (context === undefined || uid === undefined || uid === now.uid) return;
    const objects = Object.values(resources).flatMap(({ outputs }) => (isObject(outputs) ? outputs : []));
    const namespaces = objects.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name);
    const outside = objects.filter(
        ({ kind, metadata }) => kind !== "Namespace" && !namespaces.includes(metadata.namespace ?? ""),
    );
    const read = readerFor(context);
    const placed = await placesOf(outside, read).catch((error: Error) => error);
    const left = {
        ...now,
        ...{ context, namespaces, objects: placed instanceof Error ? [] : placed },
        // With --replace, its user has said that the cluster of this context was recreated.
        uid: context === now.context ? now.uid : uid,
    };
    const unreachable = process.env.PULUMI_K8S_DELETE_UNREACHABLE === "true";
    const reader: Reader = placed instanceof Error ? () => Promise.reject(placed) : read;
    const reason = await whyNotDestroy(left, reader, { unreachable });
    if (reason !== undefined) throw new Error(reason);
}

/** A Helm release is none. */
const isObject = (outputs: Record<string, unknown>): outputs is ManifestObject =>
    typeof outputs.kind === "string" && typeof outputs.metadata === "object";

async function placesOf(objects: readonly ManifestObject[], read: Reader): Promise<GuardedObject[]> {
    const lookUp = kindsOf(read);
    const placed = objects.map(async (object) => {
        const kind = await lookUp(object.apiVersion, object.kind);
        return kind === undefined ? [] : [guardedObject(placeOf(object, kind, ""))];
    });
    return (await Promise.all(placed)).flat();
}
