import { groupedByLesson, type NamedExperiment, savedExperiments } from "../experiments/saved";
import { describeExpected, type Lesson, lessons, optionsOf, type Remedy } from "../experiments/story";
import { wrapped } from "./markdown";

/** What a reader should know before the experiments of a lesson. */
const intros: Record<Lesson, string> = {
    gone:
        "A cut-off pod does not answer. If it notices that by itself, its readiness probe takes it out of its " +
        "Service, and callers are refused at once. Otherwise they wait for their time limit.",
    slow: "A slow dependency is worse than one that is gone, since its callers wait. They need a time limit.",
    flaky: "A request that failed may succeed when it is sent again, if it may be done twice.",
    change:
        "Updates and scaling stop pods. For a moment the cluster still sends requests to a pod that stops. Whether " +
        "one is lost takes many requests to see, so these experiments send ten per second.",
    work:
        "An accepted order must be fulfilled, even if the broker or the inventory is gone for a while. A check " +
        "orders with `Prefer: wait=20`: each answer shows whether the order was [fulfilled](shop.md#orders) in time.",
    pods: "Pods come and go. Without a second pod, requests fail until the replacement of the first is ready.",
};

const head = `<!-- Written by \`npm run docs\` from experiments/saved/. -->

# Stories

The saved experiments of the shop, by what they teach. Each has the verdict that it should have in a shop with default
settings, and a remedy: the setting or pattern that makes the difference. Many should fail. That is their point.

    npm run experiment -- --list                              # this page, in the terminal
    npm run experiment -- hot-deals-blackhole                 # one of them
    npm run experiment -- --all --lesson gone                 # all of a lesson
    npm run experiment -- --all --set variant=seven           # all, in the shop with orders

\`--all\` compares each run with this page, and its exit code is 0 if all ended as expected. To see a remedy work:

- _Try_ has options of \`npm run experiment\` with which all checks of the experiment hold. They are for that run: the
  next update has the settings of the stack's file again.
- _Compare_ is an experiment with the other verdict.
- Otherwise the remedy is in the run itself: some of its checks hold, and some do not.

Settings such as \`experiment.radius\` make another experiment, of which no verdict is expected.
`;

export function storiesPage(): string {
    const groups = groupedByLesson(savedExperiments(), Object.keys(lessons) as Lesson[]);
    const sections = groups.map(({ lesson, experiments }) =>
        [`## ${lessons[lesson!]}`, wrapped(intros[lesson!]), ...experiments.map(entryOf)].join("\n\n").concat("\n"),
    );
    return [head, ...sections].join("\n");
}

function entryOf({ name, hypothesis, variant, story }: NamedExperiment): string {
    const needs = variant === undefined ? "" : `, in variant ${variant}`;
    const { failing = [], remedy } = story!;
    const lines = [
        `### ${name}\n`,
        `${wrapped(hypothesis)}\n`,
        `- Expected: ${describeExpected(story!)}${needs}${describeFailing(failing)}`,
        wrapped(`- Remedy: ${remedy === undefined ? "none in this shop" : remedy.what}`, "  "),
        ...(remedy === undefined ? [] : waysOf(remedy)),
    ];
    return lines.join("\n");
}

function describeFailing(failing: readonly string[]): string {
    if (failing.length === 0) return "";
    return `. These checks fail: ${failing.map((name) => (name.startsWith("/") ? `\`${name}\`` : name)).join(", ")}`;
}

function waysOf(remedy: Remedy): string[] {
    const [options, { compare }] = [optionsOf(remedy), remedy];
    return [
        ...(options ? [`- Try: \`${options}\``] : []),
        ...(compare === undefined ? [] : [`- Compare: [${compare}](#${compare})`]),
    ];
}
