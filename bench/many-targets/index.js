// An experiment on the servers of a namespace. The setting `radius` says on how many of them.
const pulumi = require("@pulumi/pulumi");
const { join } = require("node:path");
const { Experiment } = require("../../chaos/index.ts");
const { experimentPrograms } = require("../../toolchain/programs.ts");

const config = new pulumi.Config();
const radius = config.require("radius");
const { conclusion } = new Experiment("many-targets", {
    enabled: config.requireBoolean("enabled"),
    context: config.require("context"),
    namespace: config.require("namespace"),
    hypothesis: "The servers stay ready: nobody asks them but their kubelet.",
    attacks: [
        { kind: "blackhole", target: "k8s.deployment=servers", radius: radius === "all" ? radius : Number(radius) },
    ],
    checks: [{ kind: "podsReady", of: "k8s.deployment=servers", atLeast: 1 }],
    window: { duration: "2s", grace: "1s" },
    reports: config.require("reports"),
    programs: () => ({
        ...experimentPrograms(),
        stepCommand: `node ${join(__dirname, "..", "..", "toolchain", "run-step.js")}`,
    }),
});
exports.conclusion = conclusion;
