import pulumi
import pulumi_chaos_experiments as chaos
from pulumi_kubernetes.yaml.v2 import ConfigFile

config = pulumi.Config()
nats = ConfigFile("nats", file="../nats/nats.yaml")

experiment = chaos.Experiment(
    "nats-without-some-servers",
    enabled=config.require_bool("enabled"),
    context=config.get("context"),
    hypothesis="Messages are accepted while one of three servers is cut off.",
    namespace="messaging",
    attacks=[
        chaos.BlackholeAttackArgs(
            kind="blackhole",
            target="k8s.statefulset=nats",
            radius=config.require_int("serversLost"),
        )
    ],
    checks=[
        chaos.HttpCheckArgs(
            kind="http",
            service="nats",
            port=8222,
            path="/healthz?js-enabled-only=true",
        )
    ],
    window=chaos.ExperimentWindowArgs(duration="15s", grace="15s"),
    timeout="2s",
    opts=pulumi.ResourceOptions(depends_on=nats),
)
pulumi.export("verdict", experiment.verdict)
