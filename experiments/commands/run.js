// Stacks of versions before 0.2 have this file in their state as the command that undoes an experiment. It hands their
// plan to the steps of today. Remove it once no such stack is left.
const { shopNamespace, ...plan } = JSON.parse(process.env.EXPERIMENT_PLAN);
process.env.EXPERIMENT_PLAN = JSON.stringify({
    ...plan,
    defaultNamespace: shopNamespace,
    service: { namespace: shopNamespace, name: "gateway", port: 80 },
    reports: "reports",
});
const steps = { recovery: "recovery", unmark: "unlabel-targets" };
process.argv[2] = steps[process.argv[2]];

require("../../toolchain/run-step.js");
