import { leasePreparationMs } from "../../chaos/lease/lease-record";
import { besideAnother } from "./beside-another";
import type { Kind } from "./kind";
import { deniedByOthers, failed, ineffective, passed, replaced, unwatched } from "./right-verdicts";
import { apiServerStopped } from "./troubles/api-server";
import {
    attackingJobEvicted,
    declarePort,
    defaultDeny,
    execDenied,
    jobEvicted,
    networkStalled,
    portLeftOut,
    scaledBack,
    selectorPatched,
} from "./troubles/cluster";
import { loadDeleted, loadStopped, proxyKilled } from "./troubles/own-pods";
import { enforcerOff } from "./troubles/enforcer";
import {
    jobDeletedOften,
    jobSurvives,
    largeObjects,
    peersReplaced,
    policiesRemoved,
    scaledUnderKill,
    witnessForged,
} from "./troubles/meanwhile";
import { senderStalled, senderStalledBriefly } from "./troubles/sender";
import {
    allowAllPolicy,
    imageSet,
    labelRemoved,
    leaseDeleted,
    notesRemoved,
    policyLifted,
    programKilled,
    targetReplaced,
    witnessKilled,
} from "./troubles/objects";
import { asLimitedAccount, tooManyRequests } from "./troubles/too-many-requests";
import { rolledOut } from "./troubles/rollout";
import { slowBackend } from "./troubles/slow-backend";
import { kindsOnTwoNodes } from "./kinds-on-two-nodes";
import { attackProven, loadSent, updateKilled } from "./update-killed";

const one = { hotDeals: 1, gateway: "LoadBalancer" } as const;
const three = { hotDeals: 3, gateway: "LoadBalancer" } as const;

/** With an attack that lasts: no moment decides whether the load holds. Its whole seconds count: 8 s have several. */
const underLoad = {
    experiment: "hot-deals-kill-under-load",
    settings: { "experiment.attack": "blackhole", "experiment.duration": "8s" },
};
const inTurns = { shape: one, experiment: "hot-deals-limited" };

/**
 * The kinds of trials. Without trouble, one replica is FAILED and three are PASSED, unless the shop withstands the
 * attack of its only one: `stress` and `sequence`.
 */
export const kinds: readonly Kind[] = [
    { name: "one-replica", meaning: "the only replica is attacked", shape: one, allowed: failed },
    { name: "three-replicas", meaning: "one of three replicas is attacked", shape: three, allowed: passed },
    {
        name: "target-replaced",
        meaning: "the target's pod is deleted during the run",
        shape: one,
        allowed: { INCONCLUSIVE: replaced },
        trouble: targetReplaced,
    },
    {
        name: "policy-lifted",
        meaning: "the attack's NetworkPolicy is deleted, and created again after 1 s",
        shape: one,
        // The Job ends the run for that.
        allowed: { INCONCLUSIVE: new RegExp(`is gone|lost its label|already ended|${ineffective.source}`), ...failed },
        trouble: policyLifted,
    },
    {
        name: "label-removed",
        meaning: "the target's label is removed",
        shape: one,
        allowed: { INCONCLUSIVE: new RegExp(`lost its label|${ineffective.source}`) },
        trouble: labelRemoved,
    },
    {
        name: "allow-all-policy",
        meaning: "a NetworkPolicy that allows everything is added",
        shape: one,
        allowed: { INCONCLUSIVE: /the NetworkPolicy \S+ allows (ingress to|egress from) the target/ },
        trouble: allowAllPolicy,
    },
    {
        name: "enforcer-off",
        meaning: "what enforces NetworkPolicies is stopped, before the attack or during it",
        shape: one,
        allowed: { INCONCLUSIVE: ineffective, ...failed },
        needs: { network: "kube-router" },
        trouble: enforcerOff,
        alone: true,
    },
    {
        name: "api-server-4s",
        meaning: "the API server is stopped for 4 s",
        shape: one,
        allowed: { INCONCLUSIVE: unwatched, ...failed },
        trouble: apiServerStopped(4),
        alone: true,
    },
    {
        name: "api-server-20s",
        meaning: "the API server is stopped for 20 s, after the grace period",
        shape: three,
        // In the grace period, nothing could take the target out of its Service: the shop would fail, and rightly so.
        allowed: { INCONCLUSIVE: unwatched, ...passed },
        trouble: apiServerStopped(20, { afterGrace: true }),
        alone: true,
    },
    {
        name: "api-server-429",
        meaning: "the API server answers reads of pods and Services with 429 for 2 s; the check asks through its proxy",
        shape: { hotDeals: 3, gateway: "ClusterIP" },
        allowed: { INCONCLUSIVE: unwatched, ...passed },
        before: asLimitedAccount,
        trouble: tooManyRequests,
        alone: true,
    },
    {
        name: "witness-killed",
        meaning: "the deadline Job's pod is deleted, or its process killed",
        shape: one,
        allowed: { INCONCLUSIVE: /the Job|could not be tried/, ...failed },
        trouble: witnessKilled,
    },
    {
        name: "slow-backend",
        meaning: "a backend that is not attacked answers up to 0.8 s late",
        shape: three,
        allowed: passed,
        trouble: slowBackend,
    },
    {
        name: "silent-port",
        meaning: "the target's pod declares a port at which nobody listens",
        shape: one,
        allowed: failed,
        before: declarePort,
        trouble: portLeftOut,
    },
    {
        name: "default-deny",
        meaning: "a NetworkPolicy that denies all traffic of the namespace is added",
        // The shop's own policies would allow what it needs all the same.
        shape: { ...three, networkPolicies: false },
        // Others than the targets are cut off: no verdict may say that the attack was the cause.
        allowed: { INCONCLUSIVE: deniedByOthers },
        trouble: defaultDeny,
    },
    {
        name: "selector-patched",
        meaning: "the selector of a fault's Service gets another label, by a partial patch",
        shape: one,
        experiment: "hot-deals-proxied",
        allowed: { INCONCLUSIVE: /selector of Service hot-deals|proxy/ },
        trouble: selectorPatched,
    },
    {
        name: "autoscaler",
        meaning: "what the experiment has scaled is scaled back",
        shape: one,
        experiment: "departments-scaled-in-time",
        allowed: { INCONCLUSIVE: /hot-deals/ },
        trouble: scaledBack,
    },
    {
        name: "network-stalled",
        meaning: "for 2 s, nothing that the update's machine sends reaches the cluster",
        shape: three,
        // What did not reach the application counts neither way.
        allowed: { INCONCLUSIVE: unwatched, ...passed },
        trouble: networkStalled(2),
        alone: true,
    },
    {
        name: "sender-stalled",
        meaning: "the process that sends the check's requests is stopped for 2 s to 3.5 s",
        shape: three,
        // Nothing is known of the requests that were due meanwhile.
        allowed: { INCONCLUSIVE: /the sender stalled for up to/ },
        trouble: senderStalled,
    },
    {
        name: "sender-stalled-briefly",
        meaning:
            "the process that sends the check's requests, with a limit of 600 ms, is stopped twice, for up to 0.9 s",
        shape: three,
        settings: { "experiment.timeout": "600ms" },
        // What was sent or read late is good, or nothing is known of it.
        allowed: { INCONCLUSIVE: /the sender stalled for up to/, ...passed },
        trouble: senderStalledBriefly,
    },
    {
        name: "job-evicted",
        meaning: "the deadline Job's pod is evicted, as by a drain of its node",
        shape: one,
        allowed: { INCONCLUSIVE: /the Job|could not be tried/, ...failed },
        trouble: jobEvicted,
    },
    {
        name: "exec-denied",
        meaning: "an admission policy refuses commands in pods",
        shape: one,
        // That the target reaches nobody is shown from within, and was not until the end.
        allowed: { INCONCLUSIVE: /could not be tried|nothing can be run/ },
        trouble: execDenied,
    },
    {
        name: "policies-removed",
        meaning: "all others' NetworkPolicies are deleted under a fault: nobody may be cut off by the run's own",
        shape: one,
        experiment: "hot-deals-proxied",
        allowed: { INCONCLUSIVE: /NetworkPolic/ },
        trouble: policiesRemoved,
    },
    {
        name: "policies-removed-blackhole",
        meaning: "all others' NetworkPolicies are deleted while one of three replicas is attacked",
        shape: three,
        allowed: { INCONCLUSIVE: /NetworkPolic/ },
        trouble: policiesRemoved,
    },
    {
        name: "peers-replaced",
        meaning: "the pod that the target is kept from is replaced",
        shape: one,
        experiment: "hot-deals-without-database",
        allowed: { INCONCLUSIVE: /peers/ },
        trouble: peersReplaced,
    },
    {
        name: "job-deleted-often",
        meaning: "the deadline Job's pod is deleted four times, each time as soon as there is another",
        shape: one,
        allowed: { INCONCLUSIVE: /the Job|could not be tried/, ...failed },
        trouble: jobDeletedOften,
    },
    {
        name: "large-objects",
        meaning: "the namespace has 20 pods of 0.9 MB and 20 NetworkPolicies of 0.2 MB",
        shape: one,
        allowed: failed,
        before: largeObjects,
        trouble: jobSurvives,
    },
    {
        name: "witness-forged",
        meaning: "a pod with the labels of the deadline Job's logs that the target is reachable",
        shape: one,
        allowed: failed,
        trouble: witnessForged,
    },
    {
        name: "scaled-under-kill",
        meaning: "the workload whose pods are killed is scaled from three to one",
        shape: three,
        experiment: "hot-deals-kill",
        settings: { "experiment.duration": "20s" },
        // A pod that is killed fails the requests that it has begun.
        allowed: { INCONCLUSIVE: /kill/, FAILED: /%/ },
        trouble: scaledUnderKill,
    },
    {
        name: "stress",
        meaning: "CPU and memory of the only replica are taken",
        shape: one,
        experiment: "hot-deals-busy",
        allowed: passed,
    },
    {
        name: "stress-program-killed",
        meaning: "a process of the program that takes CPU and memory is killed",
        shape: one,
        experiment: "hot-deals-busy",
        allowed: { INCONCLUSIVE: /load in/ },
        trouble: programKilled,
    },
    {
        name: "stress-job-evicted",
        meaning: "the deadline Job's pod, which holds the load, is evicted",
        shape: one,
        experiment: "hot-deals-busy",
        allowed: { INCONCLUSIVE: /the Job|load in/ },
        trouble: attackingJobEvicted,
    },
    {
        name: "fail",
        meaning: "the containers of the only replica are stopped",
        shape: one,
        experiment: "hot-deals-fails",
        renewed: true,
        allowed: failed,
    },
    {
        name: "fail-runner-killed",
        meaning: "the update that has stopped a container is killed; the next one or the deadline starts it again",
        shape: one,
        experiment: "hot-deals-fails",
        renewed: true,
        allowed: { none: /^$/ },
        // A pod may take 30 s to stop.
        deadlineSeconds: 45,
        course: updateKilled(attackProven),
    },
    {
        name: "fail-job-evicted",
        meaning: "the deadline Job's pod is evicted while a container is stopped",
        shape: one,
        experiment: "hot-deals-fails",
        renewed: true,
        allowed: { INCONCLUSIVE: /the Job|could not be seen/, ...failed },
        trouble: jobEvicted,
    },
    {
        name: "fail-lease-deleted",
        meaning: "the namespace's lease is deleted while a container is stopped",
        shape: one,
        experiment: "hot-deals-fails",
        renewed: true,
        allowed: { INCONCLUSIVE: /already ended|was running|lost its label|could not be seen/ },
        trouble: leaseDeleted,
    },
    {
        name: "fail-notes-removed",
        meaning: "nothing on the pod says any more that its container was stopped",
        shape: one,
        experiment: "hot-deals-fails",
        renewed: true,
        allowed: { INCONCLUSIVE: /lost its label|could not be seen/ },
        trouble: notesRemoved,
    },
    {
        name: "fail-image-set",
        meaning: "somebody gives a stopped container its image",
        shape: one,
        experiment: "hot-deals-fails",
        renewed: true,
        allowed: { INCONCLUSIVE: /was running|reachable again/ },
        trouble: imageSet,
    },
    {
        name: "load",
        meaning: "one of three replicas is attacked under a load",
        shape: three,
        ...underLoad,
        allowed: { PASSED: /requests of load on/ },
    },
    {
        name: "load-one-replica",
        meaning: "the only replica is attacked under a load",
        shape: one,
        ...underLoad,
        allowed: { FAILED: /requests of load on/ },
    },
    {
        name: "load-pod-deleted",
        meaning: "the pod that sends the load is deleted",
        shape: three,
        ...underLoad,
        allowed: { INCONCLUSIVE: /load on .*(is gone|sent)/ },
        trouble: loadDeleted,
    },
    {
        name: "load-stopped",
        meaning: "the process that sends the load is stopped for 3 s",
        shape: three,
        ...underLoad,
        allowed: { INCONCLUSIVE: /load on .*sent/ },
        trouble: loadStopped,
    },
    {
        name: "load-job-evicted",
        meaning: "the deadline Job's pod is evicted under a load",
        shape: three,
        ...underLoad,
        allowed: { INCONCLUSIVE: /the Job|could not be tried/, PASSED: /requests of load on/ },
        trouble: jobEvicted,
    },
    {
        name: "load-lease-deleted",
        meaning: "the namespace's lease is deleted under a load, which ends, too",
        shape: three,
        ...underLoad,
        allowed: { INCONCLUSIVE: /already ended|lost its label|reachable again|load on/ },
        trouble: leaseDeleted,
    },
    {
        name: "load-runner-killed",
        meaning: "the update that has begun a load is killed; the next one or the deadline ends it",
        shape: one,
        ...underLoad,
        allowed: { none: /^$/ },
        // A load begins before the attack: the Job waits so long for an update that is to begin that.
        deadlineSeconds: leasePreparationMs / 1_000,
        course: updateKilled(loadSent),
    },
    {
        name: "sequence",
        meaning: "a fault hits the first two requests of a session",
        ...inTurns,
        allowed: passed,
    },
    {
        name: "sequence-proxy-killed",
        meaning: "the proxy of such a fault is killed; the one that is started then has counted nothing",
        ...inTurns,
        allowed: { INCONCLUSIVE: /proxy/ },
        trouble: proxyKilled,
    },
    {
        name: "sequence-job-evicted",
        meaning: "the deadline Job's pod is evicted during such a fault",
        ...inTurns,
        allowed: { INCONCLUSIVE: /the Job|could not be tried/, ...passed },
        trouble: jobEvicted,
    },
    {
        name: "sequence-lease-deleted",
        meaning: "the namespace's lease is deleted during such a fault",
        ...inTurns,
        allowed: { INCONCLUSIVE: /already ended|proxy|selector/ },
        trouble: leaseDeleted,
    },
    {
        name: "sequence-runner-killed",
        meaning: "the update that has begun such a fault is killed; the next one or the deadline ends it",
        ...inTurns,
        allowed: { none: /^$/ },
        deadlineSeconds: 45,
        course: updateKilled(attackProven),
    },
    {
        name: "sequence-pulse",
        meaning: "a fault is on for a second, then off for one, and so on",
        shape: one,
        experiment: "hot-deals-flapping",
        allowed: failed,
    },
    {
        name: "begin",
        meaning: "the run waits for a rollout, which somebody begins and may take back",
        shape: one,
        experiment: "hot-deals-during-rollout",
        allowed: failed,
        trouble: rolledOut,
    },
    {
        name: "runner-killed",
        meaning: "the update is killed with SIGKILL; the next one (odd rounds) or the deadline (even rounds) undoes it",
        shape: one,
        allowed: { none: /^$/ },
        course: updateKilled(),
    },
    {
        name: "two-stacks",
        meaning: "another stack runs an experiment in its own namespace; a third may not use the first one's",
        shape: one,
        allowed: failed,
        course: besideAnother,
        alone: true,
    },
    ...kindsOnTwoNodes,
];
