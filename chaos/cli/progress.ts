import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation";
import { styleText } from "node:util";
import { experimentType } from "../run/asked-run";
import { describeMilliseconds } from "../values/duration";

const done: Record<string, string> = {
    create: "created",
    update: "updated",
    delete: "removed",
    replace: "replaced",
    "create-replacement": "recreated",
    "delete-replaced": "removed the old one",
};
const heartbeatMs = 10_000;

/** Prints an update's progress: finished resources, output of commands, and every 10 s the resources it waits for. */
export class UpdateProgress {
    private readonly begun = new Map<string, { label: string; at: number }>();
    private readonly heartbeat: NodeJS.Timeout;
    private lastLineAt = Date.now();
    changes = 0;

    constructor(private readonly print: (line: string) => void) {
        this.heartbeat = setInterval(() => this.beat(), 1_000);
    }

    readonly onEvent = (event: EngineEvent): void => {
        const { resourcePreEvent: pre, resOutputsEvent: post, diagnosticEvent: said } = event;
        if (pre && pre.metadata.op in done && !isBookkeeping(pre.metadata))
            this.begun.set(pre.metadata.urn, { label: labelOf(pre.metadata.urn), at: Date.now() });
        if (post && post.metadata.op in done) {
            const started = this.begun.get(post.metadata.urn);
            this.begun.delete(post.metadata.urn);
            if (isBookkeeping(post.metadata)) return;
            this.changes++;
            const duration = started ? took(Date.now() - started.at) : "";
            this.line(
                `  ${styleText("green", "✔")} ${labelOf(post.metadata.urn)} ${done[post.metadata.op]}${duration}`,
            );
        }
        if (said?.urn && said.severity.startsWith("info") && typeOf(said.urn) === "command:local:Command") {
            for (const line of said.message.split("\n").filter((text) => text.trim() !== ""))
                this.line(`    ${styleText("dim", plain(line))}`);
        }
    };

    end(): void {
        clearInterval(this.heartbeat);
    }

    private line(text: string): void {
        this.lastLineAt = Date.now();
        this.print(text);
    }

    private beat(): void {
        if (Date.now() - this.lastLineAt < heartbeatMs) return;
        const waiting = [...this.begun.values()].map(
            ({ label, at }) => `${label} (${describeMilliseconds(Date.now() - at)})`,
        );
        if (waiting.length > 0) this.line(`  … waiting for ${waiting.join(", ")}`);
    }
}

/** The type in a URN: `kubernetes:apps/v1:Deployment`. */
export const typeOf = (urn: string) => urn.split("::")[2]!.split("$").at(-1)!;

/** `Deployment hot-deals`, from a URN that ends in `kubernetes:apps/v1:Deployment::hot-deals`. */
export const labelOf = (urn: string) => `${typeOf(urn).split(":").at(-1)} ${urn.split("::")[3]}`;

/** Whether a resource is a component, a provider or the stack, which users do not see in the cluster. */
const isBookkeeping = ({ urn, old, new: next }: StepEventMetadata) =>
    ((next ?? old)?.custom !== true && typeOf(urn) !== experimentType) || typeOf(urn).startsWith("pulumi:");

const took = (milliseconds: number) => (milliseconds >= 1_000 ? ` in ${describeMilliseconds(milliseconds)}` : "");
/** A text of the engine without the marks for its colors. */
export const plain = (text: string) => text.replace(/<\{%[^%]*%\}>/g, "");
