import { beforeEach, expect, it } from "vitest";
import { SeenAttacks } from "../../../../chaos/witness/seen-attacks";

const path = "/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/run-blackhole";
const target = { name: "web-1", uid: "1", label: "x.blackhole" };

let ages: (number | undefined)[];
let seen: SeenAttacks;
beforeEach(() => {
    ages = [];
    seen = new SeenAttacks("run", async () => ages.shift());
});

const look = async (...of: (number | undefined)[]) => {
    ages = [...of];
    for (const _ of of) await seen.creationOf(path);
    return seen.whyDeleted();
};

it.each<[string, () => void, (number | undefined)[], boolean]>([
    ["nothing shows it", () => undefined, [undefined, undefined], false],
    ["it was there and is gone", () => undefined, [1_000, undefined], true],
    ["a target says that it had begun", () => seen.learnFrom([{ ...target, begunIn: "run" }], path), [undefined], true],
    ["a target says so of another run", () => seen.learnFrom([{ ...target, begunIn: "x" }], path), [undefined], false],
    ["a target has its label, before the attack", () => seen.learnFrom([target], path), [undefined], false],
])("whether somebody has deleted an attack's object: %s", async (_, learn, looks, isDeleted) => {
    learn();
    const why = await look(...looks);
    expect(why).toBe(isDeleted ? "the attack's NetworkPolicy run-blackhole was deleted" : undefined);
});

it("an attack begins when its object was first seen to, also if a later look says less", async () => {
    await look(5_000);
    const first = seen.beginningOf(path)!;
    await look(1_000);
    expect(seen.beginningOf(path)).toBe(first);
    expect(Date.now() - first).toBeGreaterThanOrEqual(5_000);
});

it("the policies of a target are known once the attack has begun: until then the update may make others", async () => {
    const labeled = [{ ...target, combined: "2" }];
    seen.learnFrom(labeled, path);
    expect([seen.isAttacking, [...seen.met.others], [...seen.met.ofJob]]).toEqual([false, [], ["run-job"]]);
    await look(0);
    seen.learnFrom(labeled, path);
    expect([seen.isAttacking, [...seen.met.others]]).toEqual([true, ["run-blackhole-2"]]);
});
