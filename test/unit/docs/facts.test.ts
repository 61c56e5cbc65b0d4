import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { drainMs, limits } from "../../../chaos/kinds/attacks/fault/proxy/protocol";
import { answersToHold } from "../../../chaos/kinds/checks/observe";
import { checkKindOf, checkKinds } from "../../../chaos/kinds/checks/registry";
import { annotations, labels, unlabeling } from "../../../chaos/cluster/labels";
import { maxNameLength } from "../../../chaos/definition/definition";
import { activeLeftOf } from "../../../chaos/ending/left";
import { maxKept } from "../../../chaos/witness/protocol";
import { recoveryTimeoutMs } from "../../../chaos/lease/recover";
import { maxSilenceMs } from "../../../chaos/proof/outcome";
import { exemption } from "../../../chaos/policies/exemption";

const project = resolve(__dirname, "..", "..", "..");
const textOf = (path: string) => readFileSync(join(project, path), "utf8");
/** A page's text as it is read: without line breaks in sentences. */
const prose = (page: string) => textOf(page).replace(/\s+/g, " ");

const seconds = (ms: number) => `${ms / 1_000} s`;
const inWords = ["no", "one", "two", "three", "four", "five"];

describe("what pages say of the package is what it does:", () => {
    it.each([
        ["docs/experiments.md", `${inWords[answersToHold]} good answers in a row`],
        ["docs/troubleshooting.md", `${inWords[answersToHold]} good answers in a row`],
        ["docs/experiments.md", `at most ${maxKept} targets`],
        ["docs/experiments.md", `may have ${limits.headBytes / 1_024} KiB (otherwise 431)`],
        ["docs/experiments.md", `take ${seconds(limits.headMs)} (otherwise 408)`],
        ["docs/experiments.md", `Beyond ${limits.connections.toLocaleString("en")} connections`],
        ["docs/experiments.md", `${limits.heldBytes / 1_024 / 1_024} MiB of bytes that wait`],
        ["docs/experiments.md", `go on for at most ${seconds(drainMs)}, without faults`],
        ["docs/experiments.md", `nothing could be tried for ${seconds(maxSilenceMs)}`],
        ["docs/troubleshooting.md", `reported nothing for more than ${seconds(maxSilenceMs)}`],
        ["docs/experiment-reference.md", `lower-case letters, digits and dashes, at most ${maxNameLength} characters`],
        ["chaos/README.md", `lower-case letters, digits and dashes, at most ${maxNameLength} characters`],
    ])("%s: %s", (page, said) => expect(prose(page)).toContain(said));

    it("recovery may take a minute", () => {
        expect(recoveryTimeoutMs).toBe(60_000);
        expect(prose("docs/experiments.md")).toContain("waits up to a minute until every check succeeds");
        expect(prose("docs/troubleshooting.md")).toContain("a check did not succeed within a minute");
    });

    it("checks that read a state have no bound", () => {
        const named = checkKinds.filter((kind) => !checkKindOf({ kind }).isTrial).map((kind) => `\`${kind}\``);
        const listed = `${named.slice(0, -1).join(", ")} and ${named.at(-1)}`;
        expect(prose("docs/experiments.md")).toContain(`for checks ${listed}: they read a state`);
    });

    it("the line that a run adds to a policy is the one on the page", () => {
        const { key, operator, values } = exemption("01fc478c59b57f54");
        const line = `- { key: ${key}, operator: ${operator}, values: [${values!.join(", ")}] }`;
        expect(textOf("docs/experiments.md")).toContain(line);
    });
});

describe("labels and annotations", () => {
    it("that a person removes by hand are those that the end of an attack removes", () => {
        const commands = textOf("docs/troubleshooting.md").replaceAll("\\\n", "");
        const removedBy = (verb: string) => {
            const [, keys] = new RegExp(`${verb} pods --all (.*)`).exec(commands)!;
            return keys!.trim().split(/ +/).sort();
        };
        const { metadata } = unlabeling;
        const removing = (all: object) => Object.keys(all).map((key) => `${key}-`);
        expect(removedBy("label")).toEqual(removing(metadata.labels).sort());
        expect(removedBy("annotate")).toEqual(removing(metadata.annotations).sort());
    });

    it("by which a person deletes what runs have made are those by which the sweep finds the same", () => {
        const { objects, besides } = activeLeftOf({ namespace: "demo", experiment: "any" });
        const swept = [...objects!, ...besides!].map(({ resource, labelSelector }) => {
            const [key] = labelSelector!.split(",").at(-1)!.split("=");
            return `delete ${resource.resource} --selector ${key}`;
        });
        const deleted = textOf("docs/troubleshooting.md").match(/delete \w+ --selector \S+/g);
        // The proxy of a fault is deleted by its name, once its Service is restored.
        const proxies = `delete pods --selector ${labels.experiment}`;
        expect(deleted).toEqual(swept.filter((command) => command !== proxies));
    });

    it.each(["docs/experiments.md", "docs/experiment-reference.md", "docs/troubleshooting.md"])(
        "that %s names exist",
        (page) => {
            const known: string[] = [...Object.values(labels), ...Object.values(annotations)];
            const named = [...textOf(page).matchAll(/\bchaos-experiments\/[a-z]+(?:-[a-z]+)*/g)].map(([name]) => name);
            expect(named.length).toBeGreaterThan(0);
            expect(named.filter((name) => !known.includes(name))).toEqual([]);
        },
    );
});

describe("the resources of a run", () => {
    const program = textOf("chaos/face/run-resources.ts");
    const steps = [...program.matchAll(/\bstep\(\s*"([a-z-]+)",\s*\{([^}]*)\}/g)].map(([, name, how]) => {
        const [, creates] = /\bcreate: "([a-z-]+)"/.exec(how!) ?? [];
        const [, deletes] = /\bdelete: "([a-z-]+)"/.exec(how!) ?? [];
        return { name: name!, creates, deletes };
    });
    // Made first, in a helper that is called twice.
    const inOrder = [...steps.filter(({ name }) => name !== "check"), ...steps.filter(({ name }) => name === "check")];

    it("are those of docs/experiments.md, in the same order", () => {
        const [, part] = /## What happens in a run\n([^]*?)\n### /.exec(textOf("docs/experiments.md"))!;
        const listed = [...part!.matchAll(/^\d\. `([a-z-]+)`/gm)].map(([, name]) => name);
        expect(listed.filter((name) => name !== "deadline")).toEqual(inOrder.map(({ name }) => name));
    });

    it("run the steps that chaos/CONTRIBUTING.md names", () => {
        const [, part] = /## How a run works\n([^]*?)\nWhat you must not break/.exec(textOf("chaos/CONTRIBUTING.md"))!;
        const listed = [...part!.matchAll(/^- `([a-z-]+)` runs ([^.]*)/gm)].map(([, name, what]) => ({
            name,
            steps: [...what!.matchAll(/`([a-z-]+)`/g)].map(([, step]) => step),
        }));
        const run = inOrder.map(({ name, creates, deletes }) => ({
            name,
            steps: [creates, deletes].filter((step) => step !== undefined),
        }));
        expect(listed).toEqual(run);
    });
});

it("chaos/CONTRIBUTING.md names the fields of a plan that make no other run", () => {
    const [, left] = /const \{ ([^}]*), \.\.\.run \} = plan/.exec(textOf("chaos/definition/plan.ts"))!;
    const fields = [...left!.matchAll(/(\w+): _+/g)].map(([, field]) => `\`${field}\``);
    const listed = `${fields.slice(0, -1).join(", ")} and ${fields.at(-1)}`;
    expect(prose("chaos/CONTRIBUTING.md")).toContain(`All fields of a plan but ${listed} are a part of the run's name`);
});

describe("versions", () => {
    interface Package {
        engines: { node: string };
        dependencies?: Record<string, string>;
        devDependencies?: Record<string, string>;
        peerDependencies?: Record<string, string>;
    }
    const packageOf = (folder: string) => JSON.parse(textOf(join(folder, "package.json"))) as Package;

    it("that docs/decisions.md says are pinned are those of the packages", () => {
        const [root, services] = [packageOf("."), packageOf("services")];
        const pinned = [
            `\`@pulumi/pulumi\` stays at ${root.dependencies!["@pulumi/pulumi"]}`,
            `\`cockatiel\` at ${services.dependencies!.cockatiel}`,
            `\`@kubernetes/client-node\` at ${root.devDependencies!["@kubernetes/client-node"]}`,
        ];
        const page = prose("docs/decisions.md").replaceAll("**", "");
        for (const said of pinned) expect(page).toContain(said);
    });

    it("that a user needs are those that the packages allow", () => {
        const { engines, peerDependencies } = packageOf("chaos");
        const least = (range: string) => range.replace(/^(?:>=|\^)/, "");
        const pulumi = least(peerDependencies!["@pulumi/pulumi"]!);
        for (const page of ["README.md", "chaos/README.md"])
            expect(prose(page)).toContain(`Node.js ${least(engines.node)} or newer`);
        expect(prose("chaos/README.md")).toContain(`Pulumi ${pulumi.replace(/\.0$/, "")} or newer`);
        expect(prose("chaos/README.md")).toContain(`@pulumi/pulumi@${pulumi}`);
    });

    it("of Kubernetes in the sandbox is that of its module", () => {
        const [, minor] = /k8s\.io\/kubernetes v(\d+\.\d+)/.exec(textOf("sandbox/modules/kubernetes/go.mod"))!;
        expect(prose("sandbox/README.md")).toContain(`Kubernetes ${minor} (`);
    });
});
