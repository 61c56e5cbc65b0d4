import * as z from "zod";
import { describeShare } from "../../../values/share";
import { describeBytes } from "./amounts";

const share = z.number().nonnegative();
const cores = z.number().nonnegative();
const bytes = z.int().nonnegative();

/** By a container's own cgroup. */
const use = z.object({
    cores: cores.describe("CPU that the container used, in cores: of all its processes, on average"),
    throttled: share.describe("Share of the periods of its CPU limit in which it had to wait, on average"),
    bytes: bytes.describe("Memory that it used at most, without files that the kernel can drop"),
});

/** What the container's node had, as far as the container sees it. */
const node = z.object({
    busy: share.optional().describe("Share of its cores that was busy, on average"),
    available: bytes.optional().describe("Memory that was available at the end"),
});

/** What a container used, before a stress and under it. */
export const usageSchema = z.object({
    pod: z.string(),
    container: z.string(),
    tool: z.string().describe("What the program of the attack ran with"),
    cgroup: z.union([z.literal(1), z.literal(2)]).describe("Version of the cgroup that was read"),
    limit: z.object({ cores: cores.optional(), bytes: bytes.optional() }).describe("Absent is none"),
    before: use.extend({ node }),
    under: use.extend({ node }).describe("From the moment at which the attack showed"),
    held: bytes.optional().describe("Memory that the program held at the end; absent if it was to hold none"),
    killed: z
        .enum(["program", "container"])
        .optional()
        .describe("What was killed for memory, if the attack wants that: its own program alone, or the container"),
});

export type UsageReport = z.infer<typeof usageSchema>;

const rounded = (cores: number) => Number(cores.toFixed(2));
const percent = (part: number) => describeShare(Math.round(part * 100) / 100);

/** For people: what a container used before and under attack, and what that cost its node. */
export function describeUsage({ pod, container, limit, before, under, killed }: UsageReport): string {
    const of = (most: number | undefined, describe: (some: number) => string | number) =>
        most === undefined ? "" : ` of ${describe(most)}`;
    const cpu =
        `${rounded(before.cores)} cores before, ${rounded(under.cores)}${of(limit.cores, rounded)} under attack` +
        (limit.cores === undefined ? "" : `, throttled in ${percent(under.throttled)} of the periods`);
    const most = `${describeBytes(under.bytes)}${of(limit.bytes, describeBytes)}`;
    const memory = `${describeBytes(before.bytes)}, then up to ${most}`;
    const busy = [before, under].map(({ node }) => node.busy);
    const ofNode = busy.every((one) => one !== undefined)
        ? `; its node was ${percent(busy[0]!)} busy before, ${percent(busy[1]!)} under attack`
        : "";
    const end = {
        program: "; the program of the attack was killed for memory, and the container was not",
        container: "; the container was killed for memory",
    };
    return `${pod}/${container} used ${cpu}; memory ${memory}${ofNode}${killed ? end[killed] : ""}`;
}
