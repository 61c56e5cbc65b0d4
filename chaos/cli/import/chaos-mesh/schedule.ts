/** Schedule: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/schedule_types.go */
import { parseDuration } from "../../../values/duration";
import type { Fields } from "../fields";
import type { Found } from "../imported";
import { experimentOf, type Lasting, runsOnce } from "./chaos";
import { embedded, kinds } from "./kinds";
import type { Context } from "./reader";

/** Of a chaos, not of a Workflow. @param spec of the Schedule */
export function ofSchedule(spec: Fields, context: Context, lasting?: Lasting): Found | undefined {
    const reader = spec.word("type", kinds);
    const every = everyMs(spec.draft("schedule"));
    const own = lasting && { ...lasting, isRepeated: true };
    const found =
        reader && experimentOf(embedded(spec, spec.text("type")!), reader, { ...context, everyMs: every }, own);
    spec.note(`is when it is done again there; ${runsOnce}`, "schedule");
    spec.noteRest(runsOnce);
    return found;
}

/** Of `@every 2s`: https://pkg.go.dev/github.com/robfig/cron/v3. Undefined if it is of times of day, or too short. */
function everyMs(schedule: string | undefined): number | undefined {
    const [, every] = /^@every\s+(\S+)$/.exec(schedule ?? "") ?? [];
    const milliseconds = every === undefined ? undefined : parseDuration(every);
    return milliseconds !== undefined && milliseconds >= 1_000 ? milliseconds : undefined;
}
