import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { hashOf } from "../../definition/plan";
import { type Asked, experimentType } from "../../run/asked-run";
import { few, maxNamed } from "../../values/quoted";
import { labelOf, plain, typeOf } from "../progress";

/** What a preview shows of a run of an experiment that is asked for. */
export interface Previewed {
    /** Folder of the reports. */
    reports: string;
    /** Distinguishes stacks, clusters and settings. */
    settings: string;
    /** Distinguishes what the program says of the experiment, besides its run, without what the cluster says. */
    definition: string;
    /** What the preview says, in lines. */
    lines: string[];
}

/** These operations change nothing. */
const reads = ["same", "read", "refresh"];

/**
 * What the events of a preview show.
 *
 * @param remedy what makes the program's other changes
 * @throws Error if the program has no such experiment, or its update would change anything else: nobody has seen that
 */
export function previewedOf(events: readonly EngineEvent[], experiment: string, remedy: string): Previewed {
    const steps = events.flatMap(({ resourcePreEvent }) => resourcePreEvent?.metadata ?? []);
    // The engine also tells those that only the state has. Their `new` is null.
    const experiments = steps.filter(({ urn, new: made }) => typeOf(urn) === experimentType && Boolean(made));
    const own = experiments.find(({ urn }) => nameOf(urn) === experiment);
    if (own === undefined) {
        const names = experiments.map(({ urn }) => nameOf(urn));
        const there = names.length === 0 ? "none is enabled or disabled in it" : `allowed: ${few(names, maxNamed)}`;
        throw new Error(`the program has no experiment ${experiment}; ${there}`);
    }
    const others = steps.filter((step) => isChange(step) && !isBelow(own.urn, step, steps));
    if (others.length > 0) {
        const named = few([...new Set(others.map(({ urn }) => labelOf(urn)))], maxNamed);
        throw new Error(`the update would also change ${named}. Update the stack first, then repeat: ${remedy}`);
    }
    const { asked, run: _, context, ...settings } = own.new!.inputs as Record<string, unknown>;
    const { reports, namespaceUid } = asked as Asked;
    return {
        reports,
        definition: hashOf(JSON.stringify([own.urn, context, settings])),
        settings: hashOf(JSON.stringify([own.urn, namespaceUid ?? context, settings])),
        lines: events
            .filter(({ diagnosticEvent: said }) => said && /^(?:info$|warning)/.test(said.severity) && !said.ephemeral)
            .flatMap(({ diagnosticEvent }) => plain(diagnosticEvent!.message).trim().split("\n")),
    };
}

const nameOf = (urn: string) => urn.split("::")[3]!;

/** Components have nothing in the cluster, and a first run may make a default provider. */
const isChange = ({ op, urn, old, new: next }: StepEventMetadata) =>
    !reads.includes(op) && (next ?? old)?.custom === true && !typeOf(urn).startsWith("pulumi:");

function isBelow(ancestor: string, step: StepEventMetadata, steps: readonly StepEventMetadata[]): boolean {
    const parent = (step.new ?? step.old)?.parent;
    if (!parent) return false;
    const above = steps.find(({ urn }) => urn === parent);
    return parent === ancestor || (above !== undefined && isBelow(ancestor, above, steps));
}
