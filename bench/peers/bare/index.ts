import * as command from "@pulumi/command";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

// The least that an experiment in a Pulumi program can be: ask once, cut off, wait, ask again. It proves nothing, has
// no deadline and takes no lease. What it takes, no experiment in a Pulumi program can do without.
const config = new pulumi.Config();
const [namespace, url, seconds] = ["namespace", "url", "seconds"].map((key) => config.require(key)) as [
    string,
    string,
    string,
];
const ask = `curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' ${url}`;

if (config.requireBoolean("enabled")) {
    const provider = new kubernetes.Provider("cluster", { context: config.require("context") });
    const before = new command.local.Command("before", { create: ask });
    const policy = new kubernetes.networking.v1.NetworkPolicy(
        "cut-off",
        {
            metadata: { namespace, name: "cut-off" },
            spec: { podSelector: { matchLabels: { app: "api" } }, policyTypes: ["Ingress", "Egress"] },
        },
        { provider, dependsOn: before },
    );
    const undo = `kubectl --context ${config.require("context")} --namespace ${namespace} delete networkpolicy cut-off`;
    const check = `sleep ${seconds} && { ${ask} || true; } && ${undo}`;
    new command.local.Command("check", { create: check }, { dependsOn: policy });
}
