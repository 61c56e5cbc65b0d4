import type { EngineEvent } from "@pulumi/pulumi/automation";
import { styleText } from "node:util";
import { describeMilliseconds } from "../shared/duration";

const done: Record<string, string> = {
    create: "created",
    update: "updated",
    delete: "removed",
    replace: "replaced",
    "create-replacement": "created anew",
    "delete-replaced": "removed the old",
};
const heartbeatMs = 10_000;

/**
 * Tells of an update while it runs: a line for every resource that is done, one for whatever a command says, and every
 * ten seconds what is still being waited for.
 */
export class UpdateProgress {
    private readonly begun = new Map<string, { label: string; at: number }>();
    private readonly heartbeat: NodeJS.Timeout;
    private lastLineAt = Date.now();
    /** How many resources were changed so far. */
    changes = 0;

    constructor(private readonly print: (line: string) => void = (line) => console.log(line)) {
        this.heartbeat = setInterval(() => this.beat(), 1_000);
    }

    readonly onEvent = (event: EngineEvent): void => {
        const { resourcePreEvent: pre, resOutputsEvent: post, diagnosticEvent: said } = event;
        if (pre && pre.metadata.op in done)
            this.begun.set(pre.metadata.urn, { label: labelOf(pre.metadata.urn), at: Date.now() });
        if (post && post.metadata.op in done) {
            const started = this.begun.get(post.metadata.urn);
            this.begun.delete(post.metadata.urn);
            if (isBookkeeping(post.metadata.urn)) return;
            this.changes++;
            this.line(
                `  ${styleText("green", "✔")} ${labelOf(post.metadata.urn)} ${done[post.metadata.op]}${started ? took(Date.now() - started.at) : ""}`,
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
        const waiting = [...this.begun.entries()]
            .filter(([urn]) => !isBookkeeping(urn))
            .map(([, { label, at }]) => `${label} (${describeMilliseconds(Date.now() - at)})`);
        if (waiting.length > 0) this.line(`  … waiting for ${waiting.join(", ")}`);
    }
}

/** `kubernetes:apps/v1:Deployment` of a URN. */
const typeOf = (urn: string) => urn.split("::")[2]!.split("$").at(-1)!;

/** `Deployment hot-deals` of a URN that ends in `kubernetes:apps/v1:Deployment::hot-deals`. */
const labelOf = (urn: string) => `${typeOf(urn).split(":").at(-1)} ${urn.split("::")[3]}`;

/** Whether a resource is the engine's or the program's own bookkeeping: a component, a provider, the stack. */
const isBookkeeping = (urn: string) => /^(?:chaos-shop|pulumi):/.test(typeOf(urn));

const took = (milliseconds: number) => (milliseconds >= 1_000 ? ` in ${describeMilliseconds(milliseconds)}` : "");
/** Without the engine's markers for colours. */
const plain = (text: string) => text.replace(/<\{%[^%]*%\}>/g, "");
