/** Journals of earlier versions, as far as they differ. Whether a document is a journal at all, the schema decides. */
interface Version1 {
    schema: 1;
    plan: {
        target: unknown;
        radius: unknown;
        attack: { kind: string };
        window: { intervalMs: unknown; timeoutMs: unknown; successRate: unknown };
    };
    conclusion: { reason?: string };
    targets: unknown;
    answers: unknown;
    kills?: unknown;
    attackedAt?: unknown;
}

interface Version2 {
    schema: 2;
    plan: { shopNamespace: unknown };
}

/** The only check of a run of version 1, which the verdict's reason names: "… requests to /path …". */
function onlyCheckOf({ reason }: { reason?: string }): { kind: "http"; path: string } {
    return { kind: "http", path: /requests to (\/\S*)/.exec(reason ?? "")?.[1] ?? "/" };
}

/** A journal of any version, as the current version writes it. */
export function upgraded(document: unknown): unknown {
    if (isVersion1(document)) return fromVersion2(fromVersion1(document));
    return isVersion2(document) ? fromVersion2(document) : document;
}

function isVersion1(document: unknown): document is Version1 {
    const { schema, plan } = (document ?? {}) as Partial<Version1>;
    return schema === 1 && plan?.attack?.kind !== undefined && plan.window !== undefined;
}

function isVersion2(document: unknown): document is Version2 {
    const { schema, plan } = (document ?? {}) as Partial<Version2>;
    return schema === 2 && plan !== undefined;
}

/** One attack on one set of targets, and one check. */
function fromVersion1({ plan, conclusion, targets, answers, kills, ...journal }: Version1): Version2 {
    const { target, radius, attack, window, ...rest } = plan;
    const { intervalMs, timeoutMs, successRate, ...times } = window;
    const name = attack.kind;
    const onlyCheck = onlyCheckOf(conclusion);
    const check = { name: onlyCheck.path, check: onlyCheck, intervalMs, timeoutMs, successRate };
    const upgradedPlan = {
        ...rest,
        attacks: [{ name, target, radius, attack }],
        checks: [check],
        actions: [],
        window: times,
    };
    return {
        ...journal,
        schema: 2,
        plan: upgradedPlan as unknown as Version2["plan"],
        conclusion: { ...conclusion, checks: [], actions: [] },
        attacks: [{ name, targets, provenAt: journal.attackedAt, ...(kills !== undefined && { kills }) }],
        checks: [{ name: check.name, answers }],
        actions: [],
    } as Version2;
}

/** The application's namespace had another name, and the folder of the reports was fixed. */
function fromVersion2({ plan: { shopNamespace, ...plan }, ...journal }: Version2): object {
    return { ...journal, schema: 3, plan: { ...plan, defaultNamespace: shopNamespace, reports: "reports" } };
}
