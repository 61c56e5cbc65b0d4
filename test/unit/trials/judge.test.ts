import { describe, expect, it } from "vitest";
import { kinds } from "../../../test/trials/kinds";
import { judge } from "../../../test/trials/judge";
import { loadSavedExperiments } from "../support/saved-experiments";

const allowed = { FAILED: /hot-deals/, INCONCLUSIVE: /reachable again/ };

describe("a verdict", () => {
    it.each([
        ["FAILED", "status 504: hot-deals did not answer"],
        ["INCONCLUSIVE", "the targets became reachable again"],
    ] as const)("%s is right if its kind allows it, and for the right reason", (outcome, reason) =>
        expect(judge(allowed, outcome, reason)).toBeUndefined(),
    );

    it("is wrong if its kind does not allow it", () =>
        expect(judge(allowed, "PASSED", "100% of 16")).toBe("PASSED instead of FAILED or INCONCLUSIVE: 100% of 16"));

    it("is wrong for another reason", () =>
        expect(judge(allowed, "FAILED", "no route")).toBe("FAILED, but the reason does not say /hot-deals/: no route"));

    it("is wrong if what the trouble saw leaves only others", () => {
        const effect = { saw: "3 good answers meanwhile", only: ["INCONCLUSIVE" as const] };
        expect(judge(allowed, "FAILED", "hot-deals", effect)).toBe(
            "FAILED instead of INCONCLUSIVE, since 3 good answers meanwhile: hot-deals",
        );
        expect(judge(allowed, "INCONCLUSIVE", "reachable again", effect)).toBeUndefined();
    });

    it("that is missing is wrong unless the update is killed", () => {
        expect(judge(allowed, "none", "the update failed")).toContain("none instead of");
        expect(judge({ none: /^$/ }, "none", "")).toBeUndefined();
    });
});

it("a trouble that disturbed more than its kind says may make other outcomes right", () => {
    const effect = { saw: "the kubelet restarted it", also: { FAILED: /required/ } };
    expect(judge({ PASSED: /^100% / }, "FAILED", "80% (required: 100%)", effect)).toBeUndefined();
    expect(judge({ PASSED: /^100% / }, "FAILED", "80% (required: 100%)")).toContain("FAILED instead of PASSED");
});

describe("the kinds", () => {
    it("have the troubles of other people's clusters", () =>
        expect(kinds.map(({ name }) => name)).toEqual(
            expect.arrayContaining([
                ...["silent-port", "default-deny", "selector-patched", "autoscaler", "network-stalled"],
                ...["job-evicted", "exec-denied"],
                ...["node-killed", "node-killed-deadline", "node-drained", "default-deny-other-node"],
            ]),
        ));

    it.each(kinds.filter(({ experiment }) => experiment))("$name names a saved experiment", ({ experiment }) =>
        expect(loadSavedExperiments().map(({ name }) => name)).toContain(experiment),
    );

    it("have different names, and a meaning without a period", () => {
        expect(new Set(kinds.map(({ name }) => name)).size).toBe(kinds.length);
        for (const { meaning } of kinds) expect(meaning).not.toMatch(/\.$/);
    });

    it.each(kinds.filter(({ trouble, course }) => !trouble && !course))("$name has one right verdict", (kind) =>
        expect(Object.keys(kind.allowed)).toHaveLength(1),
    );

    it("never take one verdict for the other: PASSED and FAILED are not both right", () => {
        for (const kind of kinds) expect("PASSED" in kind.allowed && "FAILED" in kind.allowed, kind.name).toBe(false);
    });
});
