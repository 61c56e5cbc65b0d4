import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError, type Cluster } from "../../../../../../chaos/cluster/client";
import type { RunAttack } from "../../../../../../chaos/kinds/attacks/attack-kind";
import type { StressArgs } from "../../../../../../chaos/kinds/attacks/stress/taken";
import { tryStress } from "../../../../../../chaos/kinds/attacks/stress/try-out";
import { refuseTogether } from "../../../../../../chaos/kinds/attacks/conflicts";
import { settled, startClock, stopClock } from "../../../support/time";

/** What the container has: its tools, and the files that they can read. */
let tools: string[];
let files: Record<string, string>;
let refusal: Error | undefined;
let asked: string[];
let used: number;
beforeEach(() => {
    stopClock();
    tools = ["perl", "sh"];
    refusal = undefined;
    asked = [];
    used = 0;
    files = {
        "/proc/uptime": "",
        "/sys/fs/cgroup/cpu.stat": "",
        "/sys/fs/cgroup/cpu.max": "20000 100000",
        "/sys/fs/cgroup/memory.current": "20000000",
        "/sys/fs/cgroup/memory.max": "128000000",
    };
});
afterEach(startClock);

const exit = (code: number) => ({
    status: "Failure",
    details: { causes: [{ reason: "ExitCode", message: `${code}` }] },
});
const exec: Cluster["exec"] = (_, command, onOutput) => {
    const [tool] = command;
    asked.push(tool!);
    if (refusal) return Promise.reject(refusal);
    if (tool === "sh" && !tools.includes("sh")) return Promise.resolve(exit(127));
    if (!tools.includes(tool!)) {
        const message = `exec: "${tool}": executable file not found in $PATH`;
        return Promise.resolve({ status: "Failure", message });
    }
    files["/proc/uptime"] &&= `${Date.now() / 1_000} 1`;
    files["/sys/fs/cgroup/cpu.stat"] = `usage_usec ${(used += 100_000)}`;
    const found = command.flatMap((file) => (file in files ? [`=${file}\n${files[file]}\n`] : []));
    onOutput(Buffer.from(`${found.join("")}.\n`), false);
    return Promise.resolve({ status: "Success" });
};
const target = { namespace: "demo", pod: "web-1", uid: "u1", container: "web", containerId: "c1" };
const attackOn = (attack: StressArgs, targets: object[]) =>
    ({ attack: { kind: "stress", ...attack }, chosen: { targets } }) as unknown as RunAttack<StressArgs>;
const tried = (attack: StressArgs, targets: object[] = [target]) =>
    settled(tryStress(attackOn(attack, targets), { exec } as unknown as Cluster));
/** As a run does it. */
async function triedTogether(...attacks: RunAttack<StressArgs>[]): Promise<void> {
    for (const one of attacks) one.chosen.tried = await tried(one.attack, one.chosen.targets);
    refuseTogether(attacks as never);
}

beforeEach(() => (files["/proc/uptime"] = "1 1"));

it("finds the smallest tool of each target, and what its container uses before", async () => {
    const [found] = await tried({ cpu: "80%" });
    expect(found).toMatchObject({ pod: "web-1", uid: "u1", container: "web", containerId: "c1", tool: "perl" });
    expect(found!.before.cpu.used - found!.first.cpu.used).toBeCloseTo(0.1);
    expect(found!.before.at - found!.first.at).toBeGreaterThanOrEqual(2);
});

it.each([
    ["python3", ["perl", "python3"]],
    ["sh", ["perl", "python3", "sh"]],
    ["/nodejs/bin/node", ["perl", "python3", "sh", "node", "/nodejs/bin/node"]],
])("takes %s if there is no other", async (tool, order) => {
    tools = [tool];
    const [found] = await tried({ cpu: "80%" });
    expect(found!.tool).toBe(tool);
    expect([...new Set(asked)]).toEqual(order);
});

describe("refuses before the attack", () => {
    it("a container without a tool", async () => {
        tools = [];
        await expect(tried({})).rejects.toMatchObject({
            reason: {
                code: "no-tool",
                message: "the container web-1/web has none of the tools that could load it (perl, python3, sh, node)",
            },
        });
    });

    it("a tool that does not work, and says so", async () => {
        tools = ["sh"];
        delete files["/proc/uptime"];
        await expect(tried({})).rejects.toThrow(/has none of the tools .*; sh did not work/);
    });

    it("where nothing may be run, in the words of who refuses it", async () => {
        refusal = new ApiError(403, JSON.stringify({ message: "pods/exec is forbidden" }));
        await expect(tried({})).rejects.toMatchObject({
            reason: {
                code: "exec-refused",
                message: expect.stringContaining("nothing may be run in web-1/web") as string,
            },
        });
    });

    it("a container whose cgroup cannot be read", async () => {
        delete files["/sys/fs/cgroup/memory.current"];
        await expect(tried({})).rejects.toThrow("web-1/web does not show its cgroup in /sys/fs/cgroup");
    });

    it("one that has no limit", async () => {
        files["/sys/fs/cgroup/cpu.max"] = "max 100000";
        await expect(tried({ cpu: "1" })).rejects.toThrow(/^the container web-1\/web has no CPU limit, so other pods/);
        expect(await tried({ cpu: "1", neighbours: "accept" })).toHaveLength(1);
    });

    describe("several on one node that would take all of it", () => {
        beforeEach(() => {
            files["/proc/stat"] = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
            files["/sys/fs/cgroup/cpu.max"] = "60000 100000";
        });
        const on = (...nodes: string[]) => nodes.map((node, index) => ({ ...target, pod: `web-${index}`, node }));
        const why = "the targets on a would use 1.2 cores of its 1, so other pods of the node would suffer";

        it("of one attack", async () => {
            await triedTogether(attackOn({}, on("a", "b")));
            await expect(triedTogether(attackOn({}, on("a", "a")))).rejects.toThrow(why);
        });

        it("of several, unless each may have its neighbours suffer", async () => {
            await triedTogether(attackOn({}, on("a")), attackOn({}, on("b")));
            await expect(triedTogether(attackOn({}, on("a")), attackOn({}, on("a")))).rejects.toThrow(why);
            const accepting = attackOn({ neighbours: "accept" }, on("a"));
            await expect(triedTogether(accepting, attackOn({}, on("a")))).rejects.toThrow(why);
            await triedTogether(accepting, accepting);
        });
    });
});
