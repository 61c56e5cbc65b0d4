import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Experiment } from "pulumi-chaos-experiments";

const config = new pulumi.Config();
const nats = new k8s.yaml.v2.ConfigFile("nats", { file: "nats.yaml" });

const experiment = new Experiment(
    "nats-without-some-servers",
    {
        enabled: config.requireBoolean("enabled"),
        context: config.get("context"),
        hypothesis: "Messages are accepted while one of three servers is cut off.",
        namespace: "messaging",
        attacks: [{ kind: "blackhole", target: "k8s.statefulset=nats", radius: config.requireNumber("serversLost") }],
        checks: [{ kind: "http", service: "nats", port: 8222, path: "/healthz?js-enabled-only=true" }],
        window: { duration: "15s", grace: "15s" },
        timeout: "2s",
        run: config.get("run"),
    },
    { dependsOn: nats },
);
export const verdict = experiment.verdict;
