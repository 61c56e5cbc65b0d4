import { expect, it } from "vitest";
import { objectsAt, pathOf, resources } from "../../../../chaos/cluster/resources";

it.each([
    { resource: resources.pod, namespace: "demo", name: "web-1" },
    { resource: resources.deployment, namespace: "demo", name: "namespaces" },
    { resource: resources.pod, namespace: "demo" },
])("what is at a path is found again: %o", (objects) => expect(objectsAt(pathOf(objects))).toEqual(objects));
