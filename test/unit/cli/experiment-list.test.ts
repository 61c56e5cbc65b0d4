import { expect, it } from "vitest";
import { listAsData, listOf, runnableInTurn } from "../../../cli/experiment-list";
import { groupedByLesson, type NamedExperiment } from "../../../experiments/saved";
import type { Lesson } from "../../../experiments/story";

const experiments: NamedExperiment[] = [
    { name: "own", hypothesis: "It holds." },
    {
        name: "orders-kill",
        hypothesis: "Orders are accepted.",
        variant: "seven",
        story: {
            lesson: "pods",
            failing: ["POST /orders"],
            remedy: { what: "More pods.", settings: { "replicas.orders": "3", "shutdown.delay": "5s" } },
        },
    },
    { name: "dns", hypothesis: "It lists.", story: { lesson: "gone", failing: ["/products"] } },
    {
        name: "no-broker",
        hypothesis: "It lists.",
        story: { lesson: "gone", remedy: { what: "None is needed.", compare: "dns" } },
    },
];

it("the list is grouped by lesson, and tells the expected verdict and the remedy", () => {
    expect(listOf(groupedByLesson(experiments)).split("\n")).toEqual([
        "A dependency is gone (--lesson gone)",
        "",
        "  dns",
        "    It lists.",
        "    Expected: FAILED. Remedy: none in this shop.",
        "",
        "  no-broker",
        "    It lists.",
        "    Expected: PASSED. Remedy: None is needed. Compare: dns",
        "",
        "Pods are replaceable (--lesson pods)",
        "",
        "  orders-kill (variant seven)",
        "    Orders are accepted.",
        "    Expected: FAILED. Remedy: More pods. Try: --set replicas.orders=3 --set shutdown.delay=5s",
        "",
        "Other experiments",
        "",
        "  own",
        "    It holds.",
    ]);
});

it("the list may have some lessons only", () => {
    const groups = groupedByLesson(experiments, ["pods"]);
    expect(groups.flatMap(({ experiments }) => experiments.map(({ name }) => name))).toEqual(["orders-kill"]);
});

it("as data, an experiment has its lesson, the expected verdict and the remedy", () => {
    const [dns, , , own] = listAsData(groupedByLesson(experiments));
    expect(dns).toEqual({
        name: "dns",
        hypothesis: "It lists.",
        lesson: "gone",
        failing: ["/products"],
        expected: "FAILED",
    });
    expect(own).toEqual({ name: "own", hypothesis: "It holds." });
});

it("an experiment that waits says for what, and --all, which would wait in vain, leaves it out", () => {
    const when = { kind: "podsReady", name: "two pods", of: "k8s.deployment=gateway" } as const;
    const waiting: NamedExperiment = { name: "waiting", hypothesis: "It lists.", begin: { when } };
    expect(listOf(groupedByLesson([waiting]))).toContain("\n    It lists.\n    Waits for two pods");
    const namesOf = (...only: Lesson[]) => runnableInTurn([...experiments, waiting], only).map(({ name }) => name);
    expect(namesOf()).toEqual(experiments.map(({ name }) => name));
    expect(namesOf("gone")).toEqual(["dns", "no-broker"]);
});
