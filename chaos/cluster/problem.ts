import { kubectl, type KubectlPlace } from "../values/kubectl";
import { onOneLine, quoted } from "../values/quoted";
import { contextOf, isTimeout, messageOf, statusOf } from "./client";

/** As `explain`, to complete "… : ": without a period at the end. */
export const problemOf = (error: unknown) => withoutPeriod(explain(error));

/** Whether the cluster rejects a change for good: a quota, an admission webhook or policy, or a missing right. */
export const isRejection = (error: unknown) => [400, 403, 422].includes(statusOf(error) ?? 0);

/** Whether a dry run was rejected because a webhook cannot do without side effects: it says nothing of the object. */
export const isNoDryRun = (error: unknown) => /does not support dry ?run/i.test(messageOf(error));

export const withoutPeriod = (text: string) => text.replace(/\.$/, "");

/**
 * An error for the person who made the call: what went wrong and what to do next, in plain sentences. Errors that are
 * not the API server's have their own message.
 */
export function explain(error: unknown): string {
    // Several things were tried.
    if (error instanceof AggregateError && error.message === "") return error.errors.map(problemOf).join("; ");
    const context = contextOf(error);
    const status = statusOf(error);
    switch (status) {
        case 401:
            return (
                "the API server rejects your credentials (401). Log in to the cluster again, or choose another " +
                `context; see who you are: ${kubectl({ context })} auth whoami`
            );
        case 403:
            return forbidden(messageOf(error), context);
        case 404:
            return missing(messageOf(error), context);
        default:
            if (status !== undefined) return answered(status, messageOf(error));
            return unanswered(error) ?? messageOf(error);
    }
}

/** Admission webhooks choose the words, and the status. */
function answered(status: number, message: string): string {
    const what = `the API server answered with status ${status}`;
    return message === what ? what : `${what}: ${quoted(withoutPeriod(message))}`;
}

/**
 * As in `pods is forbidden: User "ada" cannot list resource "pods" in API group "" in the namespace "demo"`. Names
 * only: a webhook may say the like, and they become a part of a command.
 */
const refusal = new RegExp(
    'User "([^"]*)" cannot ([a-z]+) resource "([a-z\\d./-]+)"' +
        '(?: in API group "([a-z\\d.-]*)")?(?: in the namespace "([a-z\\d-]+)")?',
);

/** Names the right whose lack the message of a 403 tells, as RBAC and `kubectl auth can-i` do. */
export function forbidden(message: string, context?: string): string {
    const [, user, verb, named, group, namespace] = refusal.exec(message) ?? [];
    if (named === undefined) return `the API server refuses this (403): ${quoted(withoutPeriod(message))}`;
    return lacking(`the account "${onOneLine(user!, 200)}"`, { verb: verb!, named, group, namespace, context });
}

/** @param account who lacks it, as the beginning of a sentence */
function lacking(
    account: string,
    { verb, named, group, context, namespace }: { verb: string; named: string; group?: string } & KubectlPlace,
): string {
    const [resource, subresource] = named.split("/");
    const kind = group ? `${resource}.${group}` : resource;
    const place = namespace === undefined ? "in the whole cluster" : `in namespace ${namespace}`;
    const scope = namespace === undefined ? "--all-namespaces" : `--namespace ${namespace}`;
    const part = subresource ? ` --subresource=${subresource}` : "";
    const check = `${kubectl({ context })} auth can-i ${verb} ${kind}${part} ${scope}`;
    return (
        `${account} may not ${verb} ${named} ${place} (403). Ask the cluster's administrator for that right, then ` +
        `check: ${check}`
    );
}

function missing(message: string, context?: string): string {
    const namespace = /^namespaces "([a-z\d-]+)" not found/.exec(message)?.[1];
    if (namespace === undefined) return answered(404, message);
    return (
        `namespace ${namespace} does not exist in this cluster. Create it, or name another one; see those that ` +
        `exist: ${kubectl({ context })} get namespaces`
    );
}

const adviceIn = (context?: string) =>
    `Make sure that the cluster runs and that this machine can reach it: ${kubectl({ context })} cluster-info`;

/** What a server does, by the code of the error. */
export const connectionProblems: Record<string, string> = {
    ECONNREFUSED: "refuses connections",
    ECONNRESET: "closed the connection",
    EAI_AGAIN: "has an address that cannot be looked up now",
    EHOSTUNREACH: "cannot be reached",
    ENETUNREACH: "cannot be reached",
    ENOTFOUND: "has an address that does not exist",
    ETIMEDOUT: "does not answer",
};

/** Why a call got no answer. Undefined for other errors. */
function unanswered(error: unknown): string | undefined {
    const advice = adviceIn(contextOf(error));
    const { name, code = "", message = "" } = (error ?? {}) as { name?: string; code?: string; message?: string };
    if (isTimeout(error)) return `the API server did not answer in time. ${advice}`;
    if (name !== "UnansweredError") return undefined;
    const address = /request to (https?:\/\/[^/\s]+)/.exec(message)?.[1];
    const server = `the API server${address ? ` at ${address}` : ""}`;
    const problem = connectionProblems[code];
    if (problem !== undefined) return `${server} ${problem}. ${advice}`;
    const reason = (/reason: (.*)/.exec(message)?.[1] ?? message).trim();
    return `${server} cannot be asked: ${reason}. ${advice}`;
}
