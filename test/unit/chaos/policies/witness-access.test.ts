import type { V1NetworkPolicy, V1NetworkPolicySpec } from "../../../../chaos/values/kubernetes-types";
import { expect, it } from "vitest";
import { isolates, ways } from "../../../../chaos/policies/rules";
import { selects } from "../../../../chaos/policies/selector";
import { jobPolicy, witnessPolicies, witnessRule } from "../../../../chaos/policies/witness-access";
import { pass } from "../support/fake-run";

const web = { matchLabels: { app: "web" } };
const both = ["Ingress", "Egress"];
const spec = (podSelector: V1NetworkPolicySpec["podSelector"], policyTypes: string[]): V1NetworkPolicy => ({
    spec: { podSelector, policyTypes },
});
const attacked = "7b1e";
const made = (...policies: V1NetworkPolicy[]) => witnessPolicies(policies, pass, attacked).map((one) => one.spec);
const selectorsOf = (specs: V1NetworkPolicySpec[]) =>
    specs.map(({ podSelector, policyTypes }) => [podSelector!.matchLabels ?? {}, policyTypes]);

it("the deadline Job itself is let through any default deny, and a fault's proxy has its own policy", () => {
    const { podSelector, ...rules } = jobPolicy(pass);
    expect(rules).toEqual({ policyTypes: ["Ingress", "Egress"], ingress: [{}], egress: [{}] });
    expect(selects(podSelector, { "chaos-experiments/pass": pass })).toBe(true);
    expect(selects(podSelector, { "chaos-experiments/pass": pass, "chaos-experiments/proxy": "x" })).toBe(false);
});

it("needs none in a namespace without policies", () => expect(made()).toEqual([]));

it("isolates no pod in a direction in which no policy does, and no pod under attack", () => {
    const policies = [spec(web, ["Egress"]), spec({ matchLabels: { app: "api" } }, both)];
    const after = made(...policies);
    for (const app of ["web", "api", "other"])
        for (const way of ways) {
            const isIsolated = (specs: V1NetworkPolicySpec[], of: Record<string, string>) =>
                specs.some((one) => selects(one.podSelector, of) && isolates(one, way));
            const before = policies.map((one) => one.spec!);
            expect([app, way, isIsolated(after, { app })]).toEqual([app, way, isIsolated(before, { app })]);
            expect(isIsolated(after, { app, "chaos-experiments/attacked": attacked })).toBe(false);
        }
});

it("is one policy where a default deny selects what all others do", () =>
    expect(selectorsOf(made(spec(web, both), spec({}, both), spec({}, ["Egress"]), spec(web, ["Ingress"])))).toEqual([
        [{}, both],
    ]));

it("is one policy where a default deny names the values of all others", () => {
    const all = { matchExpressions: [{ key: "app", operator: "In", values: ["web", "api"] }] };
    expect(made(spec(all, both), spec(web, both))).toHaveLength(1);
});

it("is one for each selector where none selects what another does", () =>
    expect(selectorsOf(made(spec(web, ["Ingress"]), spec({ matchLabels: { app: "api" } }, ["Ingress"])))).toEqual([
        [{ app: "web" }, ["Ingress"]],
        [{ app: "api" }, ["Ingress"]],
    ]));

it("opens nothing to a pod that has only labels which somebody could know before the run", () => {
    const guessed = { "chaos-experiments/experiment": "x", "batch.kubernetes.io/job-name": "x-1-deadline" };
    const job = { ...guessed, "chaos-experiments/pass": pass };
    const selectors = [jobPolicy(pass).podSelector, ...witnessRule(pass).peers!.map((peer) => peer.podSelector!)];
    for (const one of selectors) {
        expect(selects(one, guessed)).toBe(false);
        expect(selects(one, job)).toBe(true);
        // The proxy of a fault has a policy of its own.
        expect(selects(one, { ...job, "chaos-experiments/proxy": "x-1-fault" })).toBe(false);
    }
});
