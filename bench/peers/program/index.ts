import * as pulumi from "@pulumi/pulumi";
import { Experiment } from "pulumi-chaos-experiments";

const config = new pulumi.Config();

export const { conclusion } = new Experiment("api-cut-off", {
    enabled: config.requireBoolean("enabled"),
    context: config.require("context"),
    hypothesis: "Products are listed while api is cut off.",
    namespace: config.require("namespace"),
    attacks: [{ kind: "blackhole", target: config.get("target") ?? "k8s.deployment=api" }],
    checks: [{ kind: "http", service: config.get("asks") ?? "front", port: 80, path: "/products", timeoutMs: 5_000 }],
    reports: config.require("reports"),
    deadline: config.get("deadline"),
    window: { duration: config.require("duration"), grace: "0s" },
});
