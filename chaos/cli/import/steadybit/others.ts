/** Actions of Steadybit's extensions that have no counterpart, and what comes nearest. */
import { Refusal, unlikeAny } from "../fields";
import { others as ofContainers } from "./attacks";

/** What becomes of a step that is neither an attack, an action nor a check here. */
export type Other = Refusal | { why: string } | "check";

const quiet = { why: "keeps alarms quiet there; here they are raised" };

/** By a part of `actionType`. The first that fits counts. */
const families: readonly [RegExp, Other][] = [
    [/check/, "check"],
    [/(?:metrics?|logs?)$/, { why: "only shows something" }],
    ...Object.entries(ofContainers).map(([end, refusal]): [RegExp, Other] => [
        new RegExp(`extension_(?:container|kubernetes|host(?:_windows)?)\\.${end.replaceAll("_", "[_-]")}$`),
        refusal,
    ]),
    [/downtime|maintenance.window|muting_rule|suppression|silence/, quiet],
    [
        /extension_host(?:_windows)?\.(?!fill_disk|timetravel|cpu-speed|stop-process)/,
        unlikeAny("attacks a node", 'the same of containers, with k8s.node.name="NAME" in the target'),
    ],
    [/extension_(?:aws|azure|gcp|cloudfoundry)\./, new Refusal("is outside of Kubernetes; nothing comes near")],
    [
        /extension_k6\./,
        new Refusal("has its script in Steadybit; nearest: a load with `k6`, whose image has the script"),
    ],
    [
        /extension_(?:jmeter|gatling|loadtest|postman)\./,
        new Refusal(
            "runs another tool; nearest, written by hand: the action load, or a check of kind command, which runs it",
        ),
    ],
    [
        /extension_jvm\./,
        new Refusal("changes what a JVM runs; nearest, written by hand: a fault of the Service that is called"),
    ],
    [
        /istio|nginx|haproxy|kong|traefik|envoy/,
        new Refusal("changes what a proxy forwards; nearest, written by hand: a fault with delay or abort"),
    ],
];

export const otherOf = (type: string): Other =>
    families.find(([pattern]) => pattern.test(type))?.[1] ?? new Refusal("has no counterpart; nothing comes near");
