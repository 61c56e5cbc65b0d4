import { symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { AttackDefinition } from "../../../chaos/definition/definition";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import { packed } from "../../../chaos/pods/packed";
import { project } from "../../../cli/stack-file";
import { kubeconfigOf } from "../../support/kubeconfig";
import { scratchFolder } from "../../support/scratch";
import { released, unpack } from "../../support/tarballs";
import { type Asked, find, kinds, recordGraph } from "./support";

/** The component of a released version, with this project's packages. */
function componentOf(tarball: string, folder: string): typeof Experiment {
    const path = unpack(tarball, folder);
    symlinkSync(join(project, "node_modules"), join(path, "node_modules"));
    const exported = createRequire(__filename)(join(path, "dist", "index.js")) as object;
    return (exported as { Experiment: typeof Experiment }).Experiment;
}

const target = "k8s.deployment=web,k8s.namespace=demo";
const definition: ExperimentArgs = {
    enabled: true,
    kubeconfig: kubeconfigOf("a", "https://127.0.0.1:1"),
    hypothesis: "It holds.",
    checks: [{ kind: "http", service: "front", port: 80, path: "/" }],
    programs: () => ({ stepCommand: "node steps.js", steps: packed(""), deadline: "", proxy: "" }),
};
const attacks: [what: string, attacks: AttackDefinition[], more?: Partial<ExperimentArgs>][] = [
    ["a blackhole", [{ kind: "blackhole", target }]],
    ["a blackhole of a direction and a port", [{ kind: "blackhole", target, direction: "ingress", ports: [8080] }]],
    ["an attack on DNS, with a radius", [{ kind: "dns", target, radius: "50%" }]],
    ["a kill", [{ kind: "kill", target }]],
    ["a fault", [{ kind: "fault", service: "web", delay: "1s", target }]],
    [
        "two attacks",
        [
            { kind: "blackhole", target },
            { kind: "blackhole", target, direction: "egress" },
        ],
    ],
    ["actions", [{ kind: "dns", target }], { actions: [{ kind: "scale", deployment: "web", replicas: 2 }] }],
    ["no attack", [], { actions: [{ kind: "rollout", deployment: "web" }], namespace: "demo" }],
];

/** What the engine compares: an object with another name is another object, and a step with another trigger runs. */
const identityOf = ({ type, name, inputs }: Asked) => ({
    type,
    name,
    ...(type === kinds.command ? { triggers: inputs.triggers } : { object: inputs.metadata?.name as unknown }),
});

const title = "this version asks for all resources that a stack of version %s has, and no step runs again:";
describe.each(Object.entries(released))(title, (_version, tarball) => {
    const folder = scratchFolder();
    let Released: typeof Experiment;
    beforeAll(() => void (Released = componentOf(tarball, folder)));

    it.each(attacks)("%s", async (_, attacks, more) => {
        const found = { service: "web", selector: {}, ports: [{ name: "", port: 80, target: 8080, listen: 8080 }] };
        const chosen = ["blackhole", "blackhole-2", "dns", "kill", "fault"];
        const printed = {
            "it-steady-state": { runName: "it-0a1b2c3d", pass: "0".repeat(16) },
            "it-targets": { attacks: chosen.map((name) => ({ name, matching: 0, targets: [], found })) },
            "it-check": { verdict: "PASSED" },
        };
        const args = { ...definition, attacks, ...more } as ExperimentArgs;
        const of = async (Component: typeof Experiment) => {
            const build = async () => void new Component("it", args);
            // The identity is made up by the first update, and kept.
            const { input } = find(await recordGraph(build, printed), "pulumi:index:Stash", "it-identity");
            const kept = { ...printed, "it-identity": { input: input as unknown, output: "0a1b2c3d4e5f6071" } };
            return (await recordGraph(build, kept)).map(identityOf);
        };
        const before = await of(Released);
        expect(before.length).toBeGreaterThan(2);
        expect(await of(Experiment)).toEqual(expect.arrayContaining(before));
    });
});
