import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "../../../../chaos/cluster/client";
import { FromWithin, inTurn } from "../../../../chaos/proof/from-within";
import { type Tried, triedWithin } from "../../../../chaos/proof/trials";
import type { Target } from "../../../../chaos/targets/containers";
import { settled, startClock, stopClock } from "../support/time";

beforeEach(stopClock);
afterEach(startClock);

const target = (pod: string, node = "a"): Target => ({
    namespace: "demo",
    pod,
    uid: pod,
    node,
    container: "c",
    containerId: pod,
    address: "10.0.0.1",
    ports: [8080],
});
const toWitness: Tried = {
    proof: { stillWorks: { outward: { port: 8080 } } },
    chosen: { targets: [target("web-1")] },
};
const api = { host: "api.example.com", port: 443, addresses: ["203.0.113.7"] };
const toHost: Tried = {
    proof: { addresses: { hosts: [api], blocks: [] } },
    chosen: { targets: [target("web-1")], hosts: [api] },
};

/** Tries from within where each process answers this, or cannot be run for that reason. */
const trying = (answer: (args: readonly string[]) => boolean | string, printed = "") => {
    const exec: Cluster["exec"] = async (_, command, onOutput) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        const answered = answer(command.slice(5));
        if (typeof answered === "string") throw new Error(answered);
        onOutput(Buffer.from(printed), false);
        const causes = [{ reason: "ExitCode", message: "1" }];
        return answered ? { status: "Success" } : { status: "Failure", details: { causes } };
    };
    return new FromWithin({ exec } as Cluster);
};
const trialsOf = (tried: Tried) => triedWithin(tried, ["10.0.0.99"]).trials;

describe("a line says", () => {
    it.each<[string, Parameters<typeof trying>, object]>([
        ["what worked, and when it was tried", [() => true, "203.0.113.7 STREAM"], { open: ["connect"], tookMs: 20 }],
        ["what did not", [({ length }) => length === 1, "203.0.113.7 STREAM"], { open: [] }],
        [
            "that a name has another address",
            [() => true, "203.0.113.7\n203.0.113.9"],
            { moved: { to: ["203.0.113.9"] } },
        ],
        ["not that it has fewer", [() => true, "203.0.113.7"], { moved: undefined }],
        [
            "that a name was not found twice",
            [() => false],
            { problem: "web-1 finds no address for the name api.example.com" },
        ],
        ["why nothing could be tried", [() => "busy"], { problem: "nothing can be run in web-1/c: busy" }],
    ])("%s", async (_, answers, line) => {
        const trials = trialsOf(toHost);
        const { open, ...rest } = await settled(trying(...answers).look(trials, 300));
        const kinds = open.map((id) => Object.keys(trials.find((one) => one.id === id)!.question)[0]);
        expect({ moved: undefined, ...rest, open: kinds }).toMatchObject(line);
    });

    it("that a name has an address that a first lookup did not find", async () => {
        let looks = 0;
        const fromWithin = trying(({ length }) => length === 1 && looks++ > 0, "203.0.113.7");
        expect(await settled(fromWithin.look(trialsOf(toHost), 300))).not.toHaveProperty("problem");
    });
});

it("an address is not looked up", () => {
    const literal = { ...api, host: "203.0.113.7" };
    const tried = {
        proof: { addresses: { hosts: [literal], blocks: [] } },
        chosen: { ...toHost.chosen, hosts: [literal] },
    };
    expect(trialsOf(tried).map(({ question }) => question)).toEqual([{ connect: { host: "203.0.113.7", port: 443 } }]);
});

describe("what must go on working is tried", () => {
    const begun = () => performance.now();
    it.each<[string, number, (ms: number, count: number) => boolean | string, tries: number, isOpen: boolean]>([
        ["once if it works", 0, () => true, 1, true],
        ["again if it fails once or twice", 0, (_, count) => count === 3, 3, true],
        ["three times at most", 0, () => false, 3, false],
        ["as long as the network may need to let it through to the witness", 45_000, (ms) => ms > 30_000, 59, true],
        [
            "also if a busy node did not answer once",
            45_000,
            (ms, count) => (count === 9 ? "busy" : ms > 30_000),
            59,
            true,
        ],
        ["three times at most if nothing can be run", 45_000, () => "no shell", 3, false],
    ])("%s", async (_, patienceMs, answer, tries, isOpen) => {
        const from = begun();
        let count = 0;
        const fromWithin = trying(() => answer(performance.now() - from, ++count));
        const { open } = await settled(fromWithin.lookPatiently(trialsOf(toWitness), patienceMs));
        expect([count, open.length > 0]).toEqual([tries, isOpen]);
    });

    it("at most three times if it does not lead to the witness, also with more patience", async () => {
        let count = 0;
        const control = { host: "10.96.0.1", port: 443, addresses: ["10.96.0.1"] };
        const trials = trialsOf({ proof: {}, chosen: { targets: [target("web-1")], control } });
        const { open } = await settled(trying(() => ++count < 0).lookPatiently(trials, 45_000));
        expect([count, open]).toEqual([3, []]);
    });
});

describe("in a window, a few are tried at a time on each node, in turns:", () => {
    const lookups = (pods: Target[]) => trialsOf({ proof: { lookup: { name: "x" } }, chosen: { targets: pods } });
    const pods = (count: number, node: string) =>
        Array.from({ length: count }, (_, index) => target(`${node}${index}`, node));
    it.each<[string, Target[], number, number]>([
        ["5 pods each time", pods(5, "a"), 5, 1],
        ["10 pods of one node every other time", pods(10, "a"), 5, 2],
        ["20 pods of two nodes as often", [...pods(10, "a"), ...pods(10, "b")], 10, 2],
        [
            "60 pods of 60 nodes each time",
            Array.from({ length: 60 }, (_, index) => target(`${index}`, `${index}`)),
            60,
            1,
        ],
    ])("%s", (_, targets, atATime, turns) => {
        const trials = lookups(targets);
        const each = Array.from({ length: turns }, (_, turn) => inTurn(trials, turn));
        expect(each.map(({ length }) => length)).toEqual(Array(turns).fill(atATime));
        expect(new Set(each.flat().map(({ id }) => id)).size).toBe(targets.length);
    });

    it("a name is looked up each time, however many connections there are", () => {
        const many = Array.from({ length: 60 }, (_, index) => ({
            ...api,
            host: `192.0.2.${index}`,
            addresses: [`192.0.2.${index}`],
        }));
        const trials = trialsOf({ ...toHost, chosen: { ...toHost.chosen, hosts: [...many, api] } });
        for (const turn of [0, 1, 2])
            expect(inTurn(trials, turn).map(({ question }) => Object.keys(question)[0])).toContain("resolve");
    });

    it("and the longest time between two tries of the same is known: one that could not be made is none", async () => {
        let isBusy = false;
        const fromWithin = trying(() => (isBusy ? "busy" : false));
        const trials = lookups(pods(1, "a"));
        for (const waitMs of [3_000, 3_000, 1_000]) {
            await settled(fromWithin.look(trials, 300));
            isBusy = !isBusy;
            await settled(new Promise((resolve) => setTimeout(resolve, waitMs)));
        }
        expect(fromWithin.longestGapMs).toBeGreaterThanOrEqual(6_000);
    });
});
