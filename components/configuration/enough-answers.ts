/** Which settings give the checks of an experiment enough answers to show what they must. */
import type { AttackDefinition, Check } from "../../chaos/index";
import { type AnswersFault, type Mend, preferring } from "../../chaos/definition/answers-fault";
import { changeMistakes } from "../../chaos/definition/change-mistakes";
import { confidenceMistakes } from "../../chaos/definition/confidence-mistakes";
import { formatDuration } from "../../chaos/values/duration";
import { describeShare } from "../../chaos/values/share";
import type { Found } from "./mistakes";
import type { Key, KnownExperiment, Values } from "./settings";

interface Asked {
    get: Values;
    experiment?: KnownExperiment;
    attacks: readonly AttackDefinition[];
}

/** What the checks of an experiment cannot show with the settings. A setting may be there more than once. */
export function confidenceOfChecks({ get, experiment, attacks }: Asked): Found[] {
    const observed = observedBy(get, attacks);
    const [successRate, confidence] = [get("experiment.successRate"), get("experiment.confidence")];
    if (observed === undefined || successRate === undefined) return [];
    const faults = confidenceMistakes(checksOf(experiment), { ...observed, successRate, confidence });
    const isOwn = ({ check }: AnswersFault) => check?.confidence !== undefined;
    return faults.flatMap((fault) => mended(fault, "experiment.confidence", isOwn(fault)));
}

/** Which of them cannot be compared with before the attack. A setting may be there more than once. */
export function changesOfChecks({ get, experiment, attacks }: Asked): Found[] {
    const observed = observedBy(get, attacks);
    const [baselineMs, latency] = [get("experiment.baseline"), get("experiment.latency")];
    if (observed === undefined || baselineMs === undefined) return [];
    const faultsWith = (limits: typeof latency) =>
        changeMistakes(checksOf(experiment), { ...observed, baselineMs, latency: limits });
    const faultsWithout = faultsWith(undefined);
    const isOwn = ({ check, of }: AnswersFault) =>
        latency === undefined || faultsWithout.some((one) => one.check === check && one.of === of);
    return faultsWith(latency).flatMap((fault) => mended(fault, "experiment.latency", isOwn(fault)));
}

const checksOf = (experiment: KnownExperiment | undefined): readonly Check[] =>
    experiment?.checks ?? [{ kind: "http", path: "/" }];

/** How checks are asked. Undefined if a setting of that is wrong. A run without an attack has no grace period. */
function observedBy(get: Values, attacks: readonly AttackDefinition[]) {
    const [durationMs, intervalMs] = [get("experiment.duration"), get("experiment.interval")];
    const graceMs = attacks.length === 0 ? 0 : get("experiment.grace");
    if (durationMs === undefined || intervalMs === undefined || graceMs === undefined) return undefined;
    return { durationMs, intervalMs, graceMs };
}

interface MendingSetting {
    key: Key;
    bound: "at least" | "at most";
    /** The field by which a check sets its own, so that the setting does nothing for it. */
    own?: "perSecond" | "successRate" | "confidence";
    write: (value: number) => string;
}

const mending: Record<keyof Mend, MendingSetting> = {
    baselineMs: { key: "experiment.baseline", bound: "at least", write: formatDuration },
    durationMs: { key: "experiment.duration", bound: "at least", write: formatDuration },
    intervalMs: { key: "experiment.interval", bound: "at most", own: "perSecond", write: formatDuration },
    successRate: { key: "experiment.successRate", bound: "at least", own: "successRate", write: describeShare },
    atLeast: { key: "experiment.confidence", bound: "at most", own: "confidence", write: describeShare },
};

const fieldsOf = (mend: Mend) => Object.keys(mend) as (keyof Mend)[];
const setsOwn = (check: Check | undefined, { own }: MendingSetting) => own !== undefined && check?.[own] !== undefined;

/** A setting, in words, with what it is to be. */
interface Mended extends Pick<MendingSetting, "key" | "bound"> {
    value: string;
}

/**
 * A mistake in the first setting that mends a fault, with the others that do.
 *
 * @param asking the setting that may be left out instead
 * @param isOwn the experiment itself asks for it
 */
function mended(fault: AnswersFault, asking: Key, isOwn: boolean): Found[] {
    const { check, of, reason, allowed, prefer, otherwise } = fault;
    const choices = allowed
        .map((mend) => fieldsOf(mend).map((field) => ({ value: mend[field]!, ...mending[field] })))
        .filter((settings) => !settings.some((setting) => setsOwn(check, setting)))
        .map((settings) =>
            settings.map(({ key, bound, value, write }): Mended => {
                return { key, bound: of === "baseline" ? "at most" : bound, value: write(value) };
            }),
        );
    const named = ({ key, bound, value }: Mended) => `an ${key} of ${bound} ${value}`;
    const joined = (first: string, also: readonly Mended[]) =>
        also.length === 0 ? first : `${first} with ${also.map(named).join(" and ")}`;
    const [[first, ...also] = [], ...others] = choices;
    if (first === undefined && isOwn) return [];
    if (first === undefined)
        return [{ key: asking, reason: `${reason}; allowed: ${otherwise}`, mend: { [asking]: undefined } }];
    const all = [
        joined(`${first.bound} ${first.value}`, also),
        ...others.map(([one, ...more]) => joined(named(one!), more)),
    ];
    const mend = Object.fromEntries([first, ...also].map(({ key, value }) => [key, value]));
    return [{ key: first.key, reason: `${reason}; allowed: ${all.join(", or ")}${preferring(prefer)}`, mend }];
}
