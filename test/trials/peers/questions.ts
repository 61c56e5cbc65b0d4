import type { Shape } from "../../../bench/peers/application";
import type { ManifestObject } from "../../../components/manifest/read";

/** How long one pod of `api` is cut off, in seconds. */
export const windowSeconds = 20;

/** What a tool says of the application; `nothing` is a word that it cannot say, or that the run was no good. */
export type Said = "passed" | "failed" | "nothing";

/** "Does `/products` go on while one pod of `api` is cut off?", asked under some trouble. */
export interface Question {
    name: string;
    /** What is special, as a row of the page. */
    trouble: string;
    /** What is true then, beside the seconds for which the attack lasted. */
    truth: string;
    /** @default one replica, and a fresh connection for each call */
    shape?: Partial<Shape>;
    /** A trouble from before the run on. @default none */
    before?: ManifestObject;
    /** Whom the check asks. `api` is asked by the API server, from the node of its pods: no NetworkPolicy applies. */
    asks?: "front" | "api";
    /** The attack selects a label that no pod has. */
    selectsNobody?: true;
    /**
     * What kubectl does 5 s after the attack has begun to bite, or `kill`: all processes of the command are killed.
     *
     * @param targets the label of the attacked pods
     */
    meanwhile?: "kill" | ((targets: string) => string[]);
    /** The pod that should be attacked is not there, at first or later: a count of such pods sees that. */
    lacksTarget?: true;
    /** The trouble ends the attack: if that lasted all the same, the trouble came too late and shows nothing. */
    endsEarly?: true;
    /** What is right to say. @param seconds for which the attack lasted */
    right: (seconds: number) => Said;
}

const three = { replicas: 3 };
/** An attack that lasted for longer was not ended early. A busy network may lose connections for a moment. */
export const lastedSeconds = windowSeconds * 0.75;

const allowAll: ManifestObject = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "allow-all" },
    spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"], ingress: [{}], egress: [{}] },
};

export const questions: readonly Question[] = [
    {
        name: "one-replica",
        trouble: "none, one replica",
        truth: "`/products` fails",
        right: () => "failed",
    },
    {
        name: "three-replicas",
        trouble: "none, three replicas",
        truth: "`/products` goes on",
        shape: three,
        right: () => "passed",
    },
    {
        name: "kept-connection",
        trouble: "`front` keeps one connection to `api`",
        truth: "the attack reaches fresh connections, and not that one",
        shape: { calls: "kept" },
        right: () => "nothing",
    },
    {
        name: "node-one-of-three",
        trouble: "the check asks `api` itself, from the node; one of three is cut off",
        truth: "the attack reaches no request of the check",
        shape: three,
        asks: "api",
        right: () => "nothing",
    },
    {
        name: "node-all",
        trouble: "the check asks `api` itself, from the node; all are cut off",
        truth: "the attack reaches no request of the check",
        asks: "api",
        right: () => "nothing",
    },
    {
        name: "allow-policy",
        trouble: "a policy allows all traffic of the namespace",
        truth: "the policies of the attack alone cut nobody off",
        before: allowAll,
        right: (seconds) => (seconds > lastedSeconds ? "failed" : "nothing"),
    },
    {
        name: "selects-nobody",
        trouble: "the attack's selector matches no pod",
        truth: "nobody is cut off",
        selectsNobody: true,
        lacksTarget: true,
        right: () => "nothing",
    },
    {
        name: "target-deleted",
        trouble: "the attacked pod is deleted, three replicas",
        truth: "the attack ends after 5 s",
        endsEarly: true,
        shape: three,
        meanwhile: (targets) => ["delete", "pod", "--selector", targets, "--wait=false"],
        lacksTarget: true,
        right: () => "nothing",
    },
    {
        name: "rolling-update",
        trouble: "a rolling update of `api`, three replicas",
        truth: "the attack ends after 5 s",
        endsEarly: true,
        shape: three,
        meanwhile: () => ["rollout", "restart", "deployment", "api"],
        lacksTarget: true,
        right: () => "nothing",
    },
    {
        name: "policy-deleted",
        trouble: "somebody deletes the policies, three replicas",
        truth: "the attack ends after 5 s",
        endsEarly: true,
        shape: three,
        meanwhile: () => ["delete", "networkpolicy", "--all"],
        right: () => "nothing",
    },
    {
        name: "broken-before",
        trouble: "`/products` fails already before",
        truth: "the attack shows nothing",
        shape: { calls: "none" },
        right: () => "nothing",
    },
    {
        name: "runner-killed",
        trouble: "the command is killed with SIGKILL",
        truth: "the pod should not stay cut off",
        meanwhile: "kill",
        right: () => "nothing",
    },
];
