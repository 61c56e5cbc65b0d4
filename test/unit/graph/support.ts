import * as pulumi from "@pulumi/pulumi";
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

/** A resource as the program asked for it. Secrets are wrapped, as the engine gets them. */
export interface Asked {
    type: string;
    name: string;
    inputs: Record<string, any>;
}

/** What a shop's pods run on, as by default. */
export const images = {
    node: "docker.io/library/node:22.23.3-bookworm-slim",
    postgres: "docker.io/library/postgres:15.18-bookworm",
    nats: "docker.io/library/nats:2.9.10-alpine",
};

/** What is printed by a resource that the state does not have, in an update that leaves it out. */
export const leftOut = {};

/** Under it, what is printed has the resources of the state by their URNs. @default it has none */
export const inState = "the resources of the state";

/**
 * Stands in for the engine, for the resource graph only: records what the program asks for, and gives back what it
 * asked with. A command's output is what `printed` says for its name, and unknown to a preview for other names.
 *
 * @param asked gets what is asked for, also if the program fails
 */
export async function recordGraph(
    build: () => Promise<unknown>,
    printed: Record<string, object> = {},
    isPreview = false,
    asked: Asked[] = [],
): Promise<Asked[]> {
    await pulumi.runtime.setMocks(
        {
            newResource: ({ type, name, inputs, id }) => {
                asked.push({ type, name, inputs });
                if (printed[name] === leftOut) return { id: "", state: {} };
                // A preview does not know what a command will print that it would run.
                const stdout =
                    type === "command:local:Command" && !(isPreview && printed[name] === undefined)
                        ? JSON.stringify(printed[name] ?? "generated")
                        : undefined;
                if (type === "pulumi:index:Stash")
                    return { id: name, state: printed[name] ?? { ...inputs, output: inputs.input } };
                if (stdout !== undefined) return { id: id ?? `${name}-id`, state: { ...inputs, stdout } };
                // Each graph has passwords of its own, of which pods have a hash.
                if (type === kinds.secret) return { id: `${name}-id`, state: { ...inputs, data: {} } };
                // Whatever is made again has another uid.
                const made = inputs.metadata && { metadata: { ...inputs.metadata, uid: randomUUID() } };
                return { id: id ?? `${name}-id`, state: { ...inputs, ...made } };
            },
            // The program asks which resources the state has.
            call: ({ inputs }) => ({ ...inputs, outputs: printed[inState] ?? {} }),
        },
        "chaos-shop",
        "local",
        isPreview,
        "organization",
    );
    await build();
    await pulumi.runtime.disconnect();
    return asked;
}

/**
 * What the SDK tells when it runs a program: each error once that an output was rejected with and that nothing else
 * has handled. Does not wait for the program: its resources wait forever for inputs that were rejected.
 */
export async function unhandledErrors(program: () => Promise<unknown>): Promise<Error[]> {
    const told = new Set<Error>();
    const usual = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (error) => told.add(error as Error));
    try {
        await Promise.race([program(), setTimeout(400)]);
        await setTimeout(50);
    } finally {
        process.removeAllListeners("unhandledRejection");
        for (const listener of usual) process.on("unhandledRejection", listener);
    }
    return [...told];
}

/** The only resource of a type with a name. */
export function find(asked: readonly Asked[], type: string, name: string): Record<string, any> {
    const found = asked.filter((resource) => resource.type === type && resource.name === name);
    if (found.length !== 1)
        throw new Error(
            `there are ${found.length} resources ${type} ${name} in:\n` +
                asked.map((resource) => `${resource.type} ${resource.name}`).join("\n"),
        );
    return found[0]!.inputs;
}

/** The property by which the engine recognizes a secret. */
export const secretMark = "4dabf18193072939515e22adb298388d";

export const kinds = {
    deployment: "kubernetes:apps/v1:Deployment",
    service: "kubernetes:core/v1:Service",
    namespace: "kubernetes:core/v1:Namespace",
    configMap: "kubernetes:core/v1:ConfigMap",
    secret: "kubernetes:core/v1:Secret",
    claim: "kubernetes:core/v1:PersistentVolumeClaim",
    budget: "kubernetes:policy/v1:PodDisruptionBudget",
    policy: "kubernetes:networking.k8s.io/v1:NetworkPolicy",
    job: "kubernetes:batch/v1:Job",
    role: "kubernetes:rbac.authorization.k8s.io/v1:Role",
    command: "command:local:Command",
} as const;
