import { describe, expect, it } from "vitest";
import type { RunningExperiment } from "../../../chaos/lease/running";
import { describeStatus } from "../../../cli/status";

/** As it was read at 10:00. */
const attack: RunningExperiment = {
    namespace: "shop",
    experiment: "hot-deals-blackhole",
    lease: {
        holder: "stack theirs (its application is in shop)",
        endsAt: Date.parse("2026-11-21T10:01:30Z"),
        endsInMs: 90_000,
    },
    targets: [{ pod: "hot-deals-1", attack: "blackhole" }],
};
const status = (running: RunningExperiment[], everywhere = true) =>
    describeStatus({ running, everywhere }, { namespace: "demo", context: "kind shop" });

describe("`npm run experiment -- --status` says", () => {
    it("what is attacked, by whom, until when, and how to end it", () => {
        expect(status([attack])).toBe(
            [
                "Namespace shop: hot-deals-blackhole",
                "  By       stack theirs (its application is in shop)",
                "  Attacks  hot-deals-1 (blackhole)",
                "  Until    it is disabled or its deadline passes, at the latest 2026-11-21T10:01:30.000Z " +
                    "(in 1 min 30 s)",
                "  End it   $ kubectl --context 'kind shop' --namespace shop delete lease chaos-experiment",
            ].join("\n"),
        );
    });

    it("that nothing runs, and which namespaces it could not list", () => {
        expect(status([])).toBe("No experiment runs.");
        expect(status([], false)).toBe(
            "No experiment runs in namespace demo. Your account may not list other namespaces.",
        );
        expect(status([attack], false)).toMatch(/\n\nOnly namespace demo: your account may not list/);
    });

    it("that an attack has not begun, is over, or is between two kills", () =>
        expect(status([{ ...attack, targets: [] }])).toMatch(/^  Attacks  no pod now: .* is a kill, whose pods /m));

    it("what is left of a run, with the commands that end it, but never delete the deadline Job's program", () => {
        const endsAt = Date.parse("2026-11-21T09:59:59Z");
        const expired = { ...attack, lease: { holder: "stack theirs", endsAt, endsInMs: -1_000 } };
        expect(status([expired])).toContain("its lease ended at 2026-11-21T09:59:59.000Z (1 s ago)");
        const left = status([{ ...attack, lease: undefined }]);
        expect(left).toContain("no run: its labels are left over");
        const kubectl = "kubectl --context 'kind shop' --namespace shop";
        const without = ["target", "chosen-by", "attacked", "combined"]
            .map((label) => `chaos-experiments/${label}-`)
            .join(" ");
        const noted = ["effect", "begun", "ports"].map((key) => `chaos-experiments/${key}-`).join(" ");
        const commands = [
            `  End it   $ ${kubectl} label pods --all ${without}`,
            `           $ ${kubectl} annotate pods --all ${noted}`,
            `           $ ${kubectl} delete networkpolicies --selector chaos-experiments/experiment`,
            "           The next update of its stack removes the rest",
        ].join("\n");
        expect(left).toContain(commands);
        expect(status([expired])).toContain(commands);
    });
});
