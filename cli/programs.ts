import { type Setting, settings } from "../components/configuration/settings";
import { usualLevelText } from "../chaos/values/bound";
import { Option } from "commander";
import { Program } from "./command";

/**
 * The programs of `npm run` whose help is made from this, and, of those for users, their part of docs/cli.md: not those
 * of the sandbox and of tests, nor those of the package in chaos/.
 */

const wrongArgument = [2, "wrong argument"] as const;
const interrupted = [130, "interrupted"] as const;

export const startProgram = new Program("start", [
    [0, "the shop is up"],
    [1, "`/products` fails, or the shop could not be installed"],
    wrongArgument,
]).description(
    "Installs the shop, requests `/products`, and prints its address. You can repeat it: a running shop stays up.\n\n" +
        "Uses the cluster that `kube.context` in `Pulumi.local.yaml` names, or that of the current kubectl context, " +
        "which must be plainly local (kind, minikube, k3d, Docker Desktop, Rancher Desktop) and answer. If there is " +
        "no current context, builds and starts the sandbox.",
);

export const demoProgram = new Program("demo", [
    [0, "the two verdicts were FAILED and PASSED, and the shop recovered"],
    [1, "they were not, or an error occurred"],
    wrongArgument,
    interrupted,
]).description(
    "Installs the shop, in the cluster that `npm start` uses, cuts hot-deals off the network (FAILED), scales " +
        "hot-deals to three pods, and runs the same experiment again (PASSED). Undoes everything but the shop, which " +
        "keeps three hot-deals pods. Ctrl-C undoes the experiment first.",
);

export const experimentProgram = new Program("experiment", [
    [0, "PASSED"],
    [2, "FAILED"],
    [3, "INCONCLUSIVE"],
    [4, "ABORTED"],
    [1, "the run could not be made or undone, a file could not be written, or a wrong argument"],
    interrupted,
])
    .usage("[NAME] [options]")
    .description(
        "One whole run of an experiment: enables it, shows the answers as they come, reports, and undoes it. " +
            "Installs the shop if it is missing. Ctrl-C ends the attack and waits until the shop has recovered; " +
            "pressing it again does not skip that.",
    )
    .argument("[NAME...]", "a saved experiment. Default: `experiment.name` of the stack, else `hot-deals-blackhole`")
    .option(
        "--all",
        "run every saved experiment that fits the stack's variant, except those that wait for somebody, and compare " +
            "the verdicts with those expected. The exit code is 0 if all are as expected, otherwise the highest of " +
            "the others, 2 for an unexpected PASSED",
    )
    .option("--list", "list the saved experiments by lesson: hypothesis, expected verdict, remedy")
    .takesMany("--lesson <LESSON>", "with `--all` or `--list`, only this lesson, such as `gone`")
    .option("--status", "print what is attacked now, by whom, until when, and the command that ends it")
    .option(
        "--times <NUMBER>",
        "run the experiment so many times, each with targets chosen again at random, and print how many runs passed " +
            "and what that shows. Without `--until`, the exit code is that of `--all`",
    )
    .option(
        "--until <PERCENT>",
        `with \`--times\`, stop as soon as it is shown, with ${usualLevelText} confidence, that at least this share ` +
            "of decided runs (`PASSED` or `FAILED`) passes, such as `95%`, or that it does not. The exit code is 0 " +
            "if it is shown, 2 if it is shown that fewer of them pass, 3 if neither is",
    )
    .option(
        "--continue",
        "with `--times`, go on with the last series that had the same stack, settings and cluster, instead of " +
            "beginning one",
    )
    .takesMany("--set <KEY=VALUE>", "a setting for this run, such as `--set experiment.radius=50%`")
    .takesStack()
    .option(
        "--json",
        "print only the journal on standard output; with `--all` and `--times` an array of journals, with `--list` " +
            "of experiments",
    )
    .option("--junit <FILE>", "write a JUnit XML file at the end, also if a run fails")
    .option("--summary <FILE>", "write a Markdown summary at the end, also if a run fails");

export const workshopProgram = new Program("workshop", [
    [0, "the exercise is prepared, or all is as on the page"],
    [1, "it is not, or an error occurred"],
    wrongArgument,
    interrupted,
])
    .usage("[NUMBER] [options]")
    .description(
        "Prepares an exercise of the workshop, from any state: ends the stack's experiment, reverts what the " +
            "exercises change in the sources, gives the shop the settings that the exercise begins with, and prints " +
            "the next command. Installs the shop if it is missing.",
    )
    .argument("[NUMBER...]", "the exercise to prepare; without it, the exercises are listed")
    .option(
        "--check",
        "do all exercises, or those with the given numbers, as the page says, and compare the verdicts; about 17 " +
            "minutes. Ctrl-C first undoes the running experiment and the changes in the sources",
    )
    .takesMany("--set <KEY=VALUE>", "a setting for all updates, such as `--set experiment.duration=30s`")
    .takesStack();

export const targetsProgram = new Program("targets", [
    [0, "done, also if nothing matches"],
    [1, "there was no answer"],
    wrongArgument,
])
    .usage("[ATTRIBUTES...] [options]")
    .description(
        "Lists the containers that an experiment could attack: from the stack's agent, or from the API server if " +
            "there is none. READY is `no` if the pod is not ready: attacks leave it out unless they set " +
            "`includeNotReady`. The agent's key is read from its Secret, otherwise from the environment variable " +
            "`AGENT_KEY`.",
    )
    .argument(
        "[ATTRIBUTES...]",
        "conditions as in experiments, such as `k8s.deployment=hot-deals,k8s.namespace=demo` or " +
            "`'k8s.namespace!=kube-system'`; all must hold",
    )
    .option("--json", "everything that is known of the containers, as JSON")
    .takesStack()
    .option("--namespace <NAME>", "the shop's namespace, if it is not the one of the stack's file");

export const renderable = Object.entries<Setting<unknown>>(settings)
    .filter(([, { isRendered = true }]) => isRendered)
    .map(([key]) => key);

export const renderProgram = new Program("render", [[0, "done"], [1, "it could not be rendered"], wrongArgument])
    .usage("--out DIR [options]\n       npm run -s render -- --permissions [EXPERIMENT...] [options]")
    .description(
        "Writes the shop as manifests (`DIR/manifests`) and as a Helm chart (`DIR/chart`), to install it without " +
            "Pulumi. Needs neither a cluster nor a login.\n\n" +
            "With `--permissions`, prints the roles of a person who runs these saved experiments, and undoes them. " +
            "Each rule has its reason. Optional rules are in separate roles, which say what is lost without them.",
    )
    .argument("[EXPERIMENT...]", "with `--permissions`: saved experiments. Default: the stack's experiment")
    .option("--out <DIR>", "the folder to write to; required without `--permissions`")
    .option("--force", "replace an earlier rendering in `DIR`; its passwords and all other files are kept")
    .addOption(new Option("--variant <VARIANT>", "`four` or `seven`").choices(["four", "seven"]))
    .option("--stack <NAME>", "with the settings of this stack's file. Default: none; with `--permissions`, `local`")
    .takesMany("--set <KEY=VALUE>", "a setting of the shop, such as `--set namespace=shop`; with `--permissions`, any")
    .option("--permissions", "print roles")
    .option("--all", "with `--permissions`: all saved experiments that the variant fits")
    .takesMany("--subject <NAME>", "with `--permissions`: bind a user, or `system:serviceaccount:NAMESPACE:NAME`")
    .takesMany("--group <NAME>", "with `--permissions`: bind a group");

export const benchProgram = new Program("bench", [
    [0, "all figures meet their limits"],
    [1, "one does not, or could not be measured"],
    wrongArgument,
])
    .usage("[NAME...] [options]")
    .description(
        "Measures speed on the sandbox, in about 20 minutes, and compares each figure with its limit. Stop other " +
            "work on the machine.",
    )
    .argument("[NAME...]", "measure only these figures; `peers` means all that begin with it. Default: all")
    .option("--json", "print the results as JSON");

export const recordProgram = new Program("record", [
    [0, "the picture is written"],
    [1, "the command failed, or the picture would be larger than 300 kB: nothing is written"],
    wrongArgument,
])
    .usage("[COMMAND...] [options]")
    .description(
        "Runs a command in a terminal of 112 columns, and writes what it showed as an animated SVG, with pauses " +
            "shortened to 1.5 s. Needs Linux, with `script` of util-linux.",
    )
    .argument("[COMMAND...]", "after `--` if it has options. Default: `npm run demo`")
    .option("--out <FILE>", "the picture", "reports/demo.svg");

export const releaseProgram = new Program("release", [
    [0, "the next version could be released"],
    [1, "it could not"],
    wrongArgument,
])
    .usage("--dry-run [options]")
    .description(
        "Checks the next version before a release: its number, the changelog, the package's tarball, the versions " +
            "that pages name, and upgrades from the last two versions. Publishes nothing.",
    )
    .option("--dry-run", "required: only check")
    .option("--no-upgrade", "leave out the upgrades, which need the sandbox and some minutes");
