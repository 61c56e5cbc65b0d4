import { productsCheck } from "./checks/products";

/** What a journal of version 1 has otherwise: one attack, on one set of targets, and `/products` alone was asked. */
interface Version1 {
    schema: 1;
    plan: {
        target: unknown;
        radius: unknown;
        attack: { kind: string };
        window: { intervalMs: unknown; timeoutMs: unknown; successRate: unknown };
    };
    conclusion: object;
    targets: unknown;
    answers: unknown;
    kills?: unknown;
    attackedAt?: unknown;
}

/** A journal as the current version writes it, of one of any version. Whether it is one at all is for the schema to say. */
export function upgraded(document: unknown): unknown {
    return isVersion1(document) ? fromVersion1(document) : document;
}

function isVersion1(document: unknown): document is Version1 {
    const { schema, plan } = (document ?? {}) as {
        schema?: unknown;
        plan?: { attack?: { kind?: unknown }; window?: unknown };
    };
    return schema === 1 && plan?.attack?.kind !== undefined && plan.window !== undefined;
}

function fromVersion1({ plan, conclusion, targets, answers, kills, ...journal }: Version1): object {
    const { target, radius, attack, window, ...rest } = plan;
    const { intervalMs, timeoutMs, successRate, ...times } = window;
    const name = attack.kind;
    const check = { name: productsCheck.path, check: productsCheck, intervalMs, timeoutMs, successRate };
    return {
        ...journal,
        schema: 2,
        plan: { ...rest, attacks: [{ name, target, radius, attack }], checks: [check], actions: [], window: times },
        conclusion: { ...conclusion, checks: [], actions: [] },
        attacks: [{ name, targets, provenAt: journal.attackedAt, ...(kills !== undefined && { kills }) }],
        checks: [{ name: check.name, answers }],
        actions: [],
    };
}
