import * as z from "zod";
import { restrictedContainer } from "../../../pods/pod-security";
import { credentialsWithin, storedInClear } from "../../../values/credentials";
import { quoted } from "../../../values/quoted";
import type { Mistake } from "../../../values/texts";
import type { K6Load, LoadAction } from "./load-action";
import { k6Port } from "./sender/k6-samples";
import { lingersMs } from "./sender/settings";

export const k6Schema = z.strictObject({ image: z.string().trim().min(1), args: z.array(z.string()).min(1) });

const wanted = "use the executor constant-arrival-rate or ramping-arrival-rate in the script";

/** By the number of an argument and its text: options that replace the script's scenarios, or hide how k6 sends. */
const refused: readonly [RegExp, message: string][] = [
    [/^0 (?!run$)/, 'is another command; allowed: "run", and then its arguments'],
    [/^\d+ (?:--(?:vus|duration|iterations|stage)(?:=|$)|-[udis])/, `makes the script a closed loop; ${wanted}`],
    [/^\d+ (?:--(?:quiet|paused)(?:=|$)|-[qp])/, "hides how k6 sends, or keeps it from that; leave it out"],
];

export function k6Mistakes({ k6, kind: _, name: __, ...others }: Partial<LoadAction>): Mistake[] {
    const args = Array.isArray(k6?.args) ? k6.args.map(String) : [];
    return [
        ...Object.keys(others).map((field) => ({ field, message: "the script of `k6` says that; leave it out" })),
        ...args.flatMap((arg, index) => {
            const [, name = "", value = arg] = /^(?:--env=|-e)?(\w+)=(.*)$/s.exec(arg) ?? [];
            return [
                ...refused.filter(([pattern]) => pattern.test(`${index} ${arg}`)).map(([, message]) => message),
                ...credentialsWithin({ [name]: value }).map(({ what }) => storedInClear(what, "put it into the image")),
            ].map((message) => ({ field: `k6.args.${index}`, message }));
        }),
    ];
}

/** It reports to the container beside it, and goes on for as long as a sender when it is told to end. */
export const k6Container = ({ image, args }: K6Load) => ({
    name: "k6",
    image,
    // The kubelet would take `$(NAME)` for a variable.
    args: [...args.map((arg) => arg.replaceAll("$", "$$$$")), "--out", `influxdb=http://127.0.0.1:${k6Port}/k6`],
    env: [{ name: "K6_NO_USAGE_REPORT", value: "true" }],
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "1", memory: "1Gi" } },
    securityContext: restrictedContainer,
    terminationMessagePolicy: "FallbackToLogsOnError",
    lifecycle: { preStop: { exec: { command: ["sleep", String(lingersMs / 1_000)] } } },
});

/** How k6 sends, by the beginning of its log: `  * shop: 20.00 iterations/s for 6s (maxVUs: 4, gracefulStop: 30s)`. */
export class K6Scenarios {
    private readonly found = new Map<string, string>();

    read(line: string): void {
        const [, name, how] = /^ +\* (.+?): (.+)$/.exec(line) ?? [];
        if (name !== undefined) this.found.set(name, how!);
    }

    /** Why the script does not send at a rate. @param runs whether k6 runs, and so has said how */
    whyUnfit(runs: boolean): string | undefined {
        const [closed] = [...this.found].filter(([, how]) => !how.includes("iterations/s for "));
        if (closed)
            return `scenario ${quoted(closed[0], 60)} of k6 is a closed loop (${quoted(closed[1], 100)}): ${wanted}`;
        return runs && this.found.size === 0 ? "the log of k6 does not say which scenarios it has" : undefined;
    }
}
