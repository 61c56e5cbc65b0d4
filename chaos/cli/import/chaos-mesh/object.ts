/**
 * Chaos Mesh: PodChaos, NetworkChaos, HTTPChaos, StressChaos and DNSChaos of chaos-mesh.org/v1alpha1, also inside a
 * Schedule or a Workflow: https://chaos-mesh.org/docs/
 */
import type { Fields } from "../fields";
import type { Additions, Part } from "../imported";
import { experimentOf, runsOnce } from "./chaos";
import { embedded, kindsAnd } from "./kinds";
import { ofSchedule } from "./schedule";
import { ofWorkflow } from "./workflow";

export function ofChaosMesh(object: Fields, additions: Additions): Part[] {
    object.take("apiVersion");
    const metadata = object.object("metadata");
    const name = metadata.text("name");
    const context = { ...additions, namespace: metadata.text("namespace") ?? additions.namespace };
    metadata.noteRest("is of the object, not of the experiment");
    const spec = object.object("spec");
    const kind = object.text("kind");
    const ofWhole = (found = {}): Part[] => [{ object, nameKey: "metadata.name", found: { name, ...found } }];
    if (object.has("status")) object.note("is what Chaos Mesh found", "status");
    if (kind === "Schedule" && spec.draft("type") === "Workflow") {
        const workflow = embedded(spec, "Workflow");
        spec.noteRest(runsOnce);
        return ofWorkflow(object, workflow, name, context);
    }
    if (kind === "Workflow") return ofWorkflow(object, spec, name, context);
    if (kind === "Schedule") return ofWhole(ofSchedule(spec, context));
    const reader = object.word("kind", kindsAnd("Schedule", "Workflow"));
    const parts = ofWhole(reader && experimentOf(spec, reader, context));
    object.noteRest("is no field of Chaos Mesh's");
    return parts;
}
