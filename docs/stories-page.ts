import { checkName } from "../chaos/kinds/checks/registry";
import { groupedByLesson, type NamedExperiment, savedExperiments } from "../experiments/saved";
import { describeExpected, type Lesson, lessons, optionsOf, type Remedy } from "../experiments/story";
import { wrapped } from "./markdown";

/** What a reader should know before the experiments of a lesson. */
const intros: Record<Lesson, string> = {
    gone:
        "If a cut-off pod is not ready, the cluster routes around it, or refuses callers at once if there is no " +
        "other pod. If it stays ready, callers wait for their time limit.",
    slow: "A slow dependency is worse than one that is gone: its callers wait. They need a time limit.",
    flaky: "A request that failed may succeed when it is sent again, if it may be done twice.",
    change:
        "For a moment, the cluster still sends requests to a pod that stops. To see whether one is lost, these " +
        "experiments send ten per second.",
    work:
        "An accepted order must be fulfilled. With `Prefer: wait=20`, each answer shows whether it was " +
        "[fulfilled](shop.md#orders) in time.",
    pods: "Without a second pod, requests fail until the replacement of the first is ready.",
};

const head = `<!-- Written by \`npm run docs\` from experiments/saved/. -->

# Stories

The saved experiments of the shop, by what they teach. Each has the expected verdict in a shop with default settings,
the checks that fail, and a remedy: the setting or pattern that makes the difference.

    npm run experiment -- --list                              # this page, in the terminal
    npm run experiment -- --all --lesson gone                 # all of a lesson, compared with this page
    npm run experiment -- --all --set variant=seven           # all, in the shop with orders

To see a remedy work, add the options after _Try_ to the run, or _compare_ with an experiment of the other verdict. If
there is neither, other checks of the same run have the remedy. With settings such as \`experiment.radius\`, none is
expected.
`;

export function storiesPage(): string {
    const groups = groupedByLesson(savedExperiments(), Object.keys(lessons) as Lesson[]);
    const sections = groups.map(({ lesson, experiments }) =>
        [`## ${lessons[lesson!]}`, wrapped(intros[lesson!]), ...experiments.map(entryOf)].join("\n\n").concat("\n"),
    );
    return [head, ...sections].join("\n");
}

function entryOf({ name, hypothesis, begin, variant, story }: NamedExperiment): string {
    const needs = variant === undefined ? "" : `, in variant ${variant}`;
    const waits =
        begin === undefined ? [] : [`It [waits](experiments.md#begin-when-it-holds) for ${checkName(begin.when)}.`];
    const { failing = [], remedy } = story!;
    const verdict = `**${describeExpected(story!)}**${needs}${describeFailing(failing)}.`;
    const told = remedy === undefined ? ["none in this shop."] : [remedy.what, ...waysOf(remedy)];
    return [
        `### ${name}`,
        wrapped([hypothesis, ...waits].join(" ")),
        wrapped([verdict, "Remedy:", ...told].join(" ")),
    ].join("\n\n");
}

function describeFailing(failing: readonly string[]): string {
    if (failing.length === 0) return "";
    return `: ${failing.map((name) => (name.startsWith("/") ? `\`${name}\`` : name)).join(", ")}`;
}

function waysOf(remedy: Remedy): string[] {
    const [options, { compare }] = [optionsOf(remedy), remedy];
    return [
        ...(options ? [`Try \`${options}\`.`] : []),
        ...(compare === undefined ? [] : [`Compare [${compare}](#${compare}).`]),
    ];
}
