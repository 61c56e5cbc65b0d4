import { describe, expect, it } from "vitest";
import { readOptions } from "../../../test/trials/options";

const known = ["one-replica", "policy-lifted", "two-stacks"];
const read = (...args: string[]) => readOptions(args, known);

describe("the arguments of the trials", () => {
    it("are optional: each kind is tried once with each --denied, on one node with kube-router", () =>
        expect(read()).toEqual({
            does: "run",
            rounds: 1,
            seed: "1",
            place: { network: "kube-router", nodes: 1 },
            denied: ["drop", "reject"],
            parallel: 1,
            kinds: known,
        }));

    it("choose kinds, which keep the order of the table, rounds, seed, denied traffic and workers", () =>
        expect(
            read("two-stacks", "one-replica", "--rounds", "8", "--seed", "a.b", "--network=calico", "--parallel", "2"),
        ).toEqual({
            does: "run",
            rounds: 8,
            seed: "a.b",
            place: { network: "calico", nodes: 1 },
            denied: ["drop"],
            parallel: 2,
            kinds: ["one-replica", "two-stacks"],
        }));

    it.each(["reject", "both"])("--denied %s is refused where the network only drops, with the reason", (denied) =>
        expect(() => read("--network=calico", `--denied=${denied}`)).toThrow(
            new Error(`--denied is "${denied}"; allowed: drop, since calico only drops what a NetworkPolicy denies`),
        ),
    );

    it.each([
        ["--list", { does: "list" }],
        ["--markdown", { does: "markdown" }],
    ])("%s runs nothing", (arg, expected) => expect(read(arg)).toMatchObject(expected));

    it("with --peer choose questions, in the order of the table, and only what belongs to it", () => {
        const questions = ["one-replica", "allow-policy"];
        const peer = (...args: string[]) => readOptions(["--peer=chaostoolkit", ...args], known, questions);
        expect(peer("--quick")).toMatchObject({ kinds: questions, peer: { quick: true, write: false } });
        expect(peer("allow-policy", "--write")).toMatchObject({ kinds: ["allow-policy"], peer: { write: true } });
        expect(() => peer("policy-lifted", "--rounds=2", "--nodes=2")).toThrow(
            new Error(
                "--peer and --rounds, --nodes exclude each other\n" +
                    "no question is named policy-lifted; there are one-replica, allow-policy",
            ),
        );
    });

    it.each([
        ["--peer=gremlin", '--peer is "gremlin"; allowed: chaostoolkit'],
        ["--quick", "--quick needs --peer chaostoolkit"],
        ["--write", "--write needs --peer chaostoolkit"],
        ["--rounds=0", '--rounds is "0"; allowed: 1 to 999'],
        ["--rounds=many", '--rounds is "many"; allowed: 1 to 999'],
        ["--seed=a/b", '--seed is "a/b"; allowed: up to 40 letters, digits, and . _ -'],
        ["--denied=slow", '--denied is "slow"; allowed: drop, reject, both'],
        ["--network=flannel", '--network is "flannel"; allowed: kube-router, calico, cilium'],
        ["--nodes=3", '--nodes is "3"; allowed: 1, 2'],
        ["--parallel=3", '--parallel is "3"; allowed: 1, 2'],
        ["three", "no kind is named three; there are one-replica, policy-lifted, two-stacks"],
    ])("%s is a mistake", (arg, mistake) => expect(() => read(arg)).toThrow(new Error(mistake)));
});
