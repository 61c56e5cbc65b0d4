/** Actions of Steadybit's extensions that have no counterpart, and what comes nearest. */
import { Refusal } from "../fields";
import { others as ofContainers } from "./attacks";

/** What becomes of a step that is neither an attack, an action nor a check here. */
export type Other = Refusal | { why: string } | "check";

const outside = new Refusal("attacks what is outside of Kubernetes; nothing comes near");
const quiet = { why: "keeps alarms quiet there; here they are raised" };

/** By a part of `actionType`. The first that fits counts. */
const families: readonly [RegExp, Other][] = [
    ...Object.entries(ofContainers).map(([end, refusal]): [RegExp, Other] => [
        new RegExp(`extension_(?:container|kubernetes)\\.(?:.*\\.)?${end}$`),
        refusal,
    ]),
    [/downtime|maintenance.window|muting_rule|suppression|silence/, quiet],
    [
        /extension_host(?:_windows)?\./,
        new Refusal(
            "attacks a node; no attack does that. Nearest: the same of containers, with the node in the target, as " +
                'in k8s.node.name="NAME"',
        ),
    ],
    [/extension_(?:aws|azure|gcp|cloudfoundry)\./, outside],
    [
        /extension_k6\./,
        new Refusal("has its script in Steadybit; nearest: a load with `k6`, whose image has the script"),
    ],
    [
        /extension_(?:jmeter|gatling|loadtest|postman)\./,
        new Refusal(
            "runs another tool; nearest, written by hand: the action load, which sends one request at a rate, or a " +
                "check of kind command, which runs the tool",
        ),
    ],
    [
        /extension_jvm\./,
        new Refusal("changes what a JVM runs; nearest, written by hand: a fault of the Service that is called"),
    ],
    [
        /istio|nginx|haproxy|kong|traefik/,
        new Refusal("changes what a proxy forwards; nearest, written by hand: a fault with delay or abort"),
    ],
    [/check|_metrics?$|\.metrics$/, "check"],
];

export const otherOf = (type: string): Other =>
    families.find(([pattern]) => pattern.test(type))?.[1] ?? new Refusal("has no counterpart; nothing comes near");
