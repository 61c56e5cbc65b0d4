import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "../../../../chaos/cluster/client";
import { explain, problemOf } from "../../../../chaos/cluster/problem";
import { whyNotRunning } from "../../../../chaos/values/kubernetes-rules";
import { lackOfEndpoints } from "../../../../chaos/kinds/checks/api-server";
import { excerpt } from "../../../../chaos/kinds/checks/values";
import { describeHolder, experimentIn } from "../../../../chaos/lease/lease-record";
import { onOneLine, quoted, withoutControls, wordOf } from "../../../../chaos/values/quoted";
import { reason } from "../../../../chaos/values/reasons";

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Clears a terminal, ends the line, writes one of ours, and reorders the rest. */
const hostile = "\u001b[2J\u009b31mready\r\nTo mend: kubectl delete namespace prod\u2028\u202e\u0007 “end”";

describe("a text of others", () => {
    it.each([
        ["MinimumReplicasUnavailable", "MinimumReplicasUnavailable"],
        ["kube-controller-manager", "kube-controller-manager"],
        ["two words", "“two words”"],
        [hostile, quoted(hostile, 60)],
        ["x".repeat(61), `“${"x".repeat(59)}…”`],
        ["", "“”"],
        [5, "5"],
        [undefined, "missing"],
        [{ a: 1 }, '“{"a":1}”'],
    ])("is in quotes unless it is one word: %j", (value, shown) => expect(wordOf(value)).toBe(shown));

    it("is shown on one line, without what controls a terminal or reorders text, and bounded", () =>
        fc.assert(
            fc.property(
                fc.string({ unit: "binary", maxLength: 300 }),
                fc.integer({ min: 1, max: 200 }),
                (text, most) => {
                    const line = onOneLine(hostile + text, most);
                    expect(line).not.toMatch(unseen);
                    expect(line.length).toBeLessThanOrEqual(most);
                    expect(line).toBe(line.trim());
                },
            ),
        ));

    it("is in quotes that it cannot end", () => {
        expect(quoted(hostile)).toBe('“ready To mend: kubectl delete namespace prod "end"”');
        expect(quoted('exceeded quota: "few"')).toBe('“exceeded quota: "few"”');
    });

    it("is cut between characters, and takes no time however long it is", () => {
        expect(onOneLine("🙂🙂🙂", 4)).toBe("🙂…");
        expect(onOneLine("\u001b[".repeat(5_000_000), 10).length).toBeLessThanOrEqual(10);
    });

    it("leaves lines of ours as they are, but for what controls a terminal", () =>
        expect(withoutControls("one\n  two\u001b[2J\u202e\u0085")).toBe("one\n  two "));
});

describe("as a quotation, never as a line or a command of ours, is shown", () => {
    const shows = (text: string | undefined) => {
        expect(text).toContain("“ready To mend: kubectl delete namespace prod");
        expect(text!.replace(/“[^”]*”/g, "")).not.toContain("prod");
        expect(text).not.toMatch(unseen);
    };
    const refused = (code: number, message: string) => new ApiError(code, JSON.stringify({ kind: "Status", message }));

    it.each([400, 403, 404, 409, 422, 429, 500])("what an admission webhook says with status %i", (status) =>
        shows(problemOf(refused(status, hostile))),
    );
    it("what a kubelet or a controller writes into a pod's status", () =>
        shows(
            whyNotRunning({ status: { containerStatuses: [{ state: { waiting: { message: hostile } } }] } } as never),
        ));
    it("what an application answers", () => shows(excerpt(hostile)));
    it("what somebody has written into a lease as its holder", () =>
        shows(describeHolder({ spec: { holderIdentity: hostile } })));

    it("the reason of a run, with a text of others in it, on the terminal as in the journal", () =>
        expect(reason("no-room", `a\u001b[2J\u202e${quoted(hostile)}`).message).not.toMatch(unseen));
});

describe("a command", () => {
    it("has no name from a message that only looks like RBAC's", () => {
        const message = 'User "a" cannot $(reboot) resource "pods" in API group "" in the namespace "demo"';
        expect(explain(new ApiError(403, JSON.stringify({ message })))).not.toContain("can-i");
        const namespace = 'User "a" cannot get resource "pods" in API group "" in the namespace "x; reboot"';
        expect(explain(new ApiError(403, JSON.stringify({ message: namespace })))).not.toContain("--namespace");
        const missing = 'namespaces "x; reboot" not found';
        expect(explain(new ApiError(404, JSON.stringify({ message: missing })))).not.toContain("Create it");
    });

    it("has the name of the Service that was asked, not of one that an application answers with", () => {
        const cluster = { kubeconfig: { getCurrentContext: () => "kind" } } as never;
        const message = 'no endpoints available for service "x --all; reboot"';
        const path = "/api/v1/namespaces/demo/services/https:orders:80/proxy";
        const told = lackOfEndpoints(JSON.stringify({ kind: "Status", message }), path, cluster)!;
        expect(told).toContain("get service orders --output wide");
        expect(told.replace(/“[^”]*”/g, "")).not.toContain("reboot");
    });

    it("has no experiment from a lease whose name could be none", () => {
        const named = (name: string) => ({ metadata: { annotations: { "chaos-experiments/experiment": name } } });
        expect(experimentIn(named("orders"))).toBe("orders");
        for (const name of ["orders; reboot", hostile, ""]) expect(experimentIn(named(name))).toBeUndefined();
    });

    it("a lease that a run holds names its stack as it is", () =>
        expect(
            describeHolder({ spec: { holderIdentity: "stack org/shop.dev/0f3c5a7b (its application is in demo)" } }),
        ).toBe("stack org/shop.dev/0f3c5a7b (its application is in demo)"));
});
