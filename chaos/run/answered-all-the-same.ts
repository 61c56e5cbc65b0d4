import { isIP } from "node:net";
import { attackKindOf } from "../kinds/attacks/registry";
import type { Answer } from "../kinds/checks/answer";
import { poll } from "../values/async";
import { type Check, serviceAskedBy, urlAskedBy } from "../kinds/checks/registry";
import { addressesAt, isOfCluster, type NamedService, placeOf, serviceAt } from "../kinds/checks/route";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { endpointsIn, isAt, tcpPortsMeant } from "../cluster/service-endpoints";
import type { Plan, RunAttack } from "../definition/plan";
import { reason, type Reason } from "../values/reasons";
import { addressesOfTarget, type Target } from "../targets/containers";
import { notSeen } from "./attacks-last";
import { resources } from "../cluster/resources";

/**
 * The part of the bad answers that an attack must cause, by its share of the endpoints, that shows that it was met. It
 * is not all of them, because a load balancer may soon leave out what does not answer.
 */
const enough = 0.25;

/**
 * Why good answers of a Service say nothing: pods behind it are cut off from its callers, and yet all requests to it
 * succeed, or far more than can. By the NetworkPolicy specification, connections from a pod's own node are exempt. On a
 * cluster of one node, all requests of checks may come from there, through the API server's proxy or a load balancer's
 * address. Other callers, in the cluster, lose their share.
 *
 * @param observed the answers of each check, in the order of the plan
 * @returns undefined for a check that had enough bad answers: the attack did reach it
 */
export async function whyAnsweredAllTheSame(
    plan: Plan,
    cluster: Cluster,
    attacks: readonly RunAttack[],
    observed: readonly { answers: readonly Answer[] }[],
): Promise<Reason | undefined> {
    const cutOff = whatIsCutOff(attacks);
    if (cutOff.length === 0) return undefined;
    for (const [index, { name, check }] of plan.checks.entries()) {
        const answers = observed[index]?.answers.filter(({ unseen }) => !unseen) ?? [];
        const bad = answers.filter(({ good }) => !good).length;
        const isMet = ([part, all]: Counted) => bad > 0 && bad >= Math.floor((enough * answers.length * part) / all);
        if (isMet([1, 1])) continue;
        const succeeded = bad === 0 ? "all requests" : `${answers.length - bad} of ${answers.length} requests`;
        const of = { check: name, succeeded };
        const asked = await whatIsAsked(check, plan, cutOff, cluster);
        if (asked === undefined) continue;
        if ("code" in asked) return asked;
        if ("pod" in asked) return bypassed(`the pod ${asked.pod} was`, of);
        if (asked.namespace !== plan.namespace) continue;
        const seen = await seeBehind(asked, cutOff, cluster);
        if ("code" in seen) return seen;
        const [number, all] = seen;
        if (number === 0 || isMet(seen)) continue;
        const endpoints = number === all ? "every ready endpoint" : `${number} of ${all} ready endpoints`;
        const were = number === all || number === 1 ? "was" : "were";
        return bypassed(`${endpoints} of the Service ${asked.name} ${were}`, of);
    }
    return undefined;
}

const bypassed = (what: string, { check, succeeded }: { check: string; succeeded: string }): Reason =>
    reason(
        "attack-bypassed",
        `${what} cut off from other pods, and ${succeeded} of the check ${check} to it still succeeded: they did not ` +
            "meet the attack; check a Service that depends on this one",
    );

/** What a check asks: a Service, or a pod that is cut off there. Undefined if neither is seen. */
async function whatIsAsked(
    check: Check,
    plan: Plan,
    cutOff: readonly CutOff[],
    cluster: Cluster,
): Promise<AskedService | { pod: string } | Reason | undefined> {
    const service = serviceAskedBy(check, plan);
    const url = urlAskedBy(check);
    if (service !== undefined || url === undefined) return service;
    const found = await asking(() => serviceAt(cluster, plan.namespace, url), `to which Service ${url} leads`);
    return found ?? podAt(url, cutOff);
}

/** The pod that is cut off where a URL leads, if it leads to no other address. Only the cluster names pods in DNS. */
async function podAt(url: string, cutOff: readonly CutOff[]): Promise<{ pod: string } | undefined> {
    const { host, port } = placeOf(url);
    const addresses = isIP(host) || isOfCluster(host) ? await addressesAt(host) : [];
    if (addresses.length === 0) return undefined;
    const found = cutOff.find(
        ({ target, ports }) =>
            addresses.every((one) => addressesOfTarget(target).includes(one)) &&
            (ports === "all" || ports.includes(port)),
    );
    return found && { pod: found.target.pod };
}

/** A target that nobody but its node can connect to. */
interface CutOff {
    target: Target;
    /** The TCP ports at which that is so. */
    ports: readonly number[] | "all";
}

function whatIsCutOff(attacks: readonly RunAttack[]): CutOff[] {
    return attacks.flatMap(({ attack, chosen }) => {
        const { inward } = attackKindOf(attack).proof(attack);
        return inward ? chosen.targets.map((target) => ({ target, ports: inward.ports ?? ("all" as const) })) : [];
    });
}

type AskedService = Pick<NamedService, "namespace" | "name" | "port">;
type Counted = readonly [cutOff: number, all: number];

/** How long it is asked again what the API server did not say, in milliseconds. */
const triesMs = 5_000;

/** How many endpoints are cut off: none if the account may not look. If the API server does not say, the reason. */
const seeBehind = async (
    service: AskedService,
    cutOff: readonly CutOff[],
    cluster: Cluster,
): Promise<Counted | Reason> =>
    (await asking(() => countBehind(service, cutOff, cluster), `which endpoints the Service ${service.name} has`)) ?? [
        0, 0,
    ];

/**
 * Asks the API server, again for a time if it does not answer.
 *
 * @param what completes the sentence "it is not known …"
 * @returns undefined if the account may not look, or nothing is there; why it is not known, if it never answers
 */
async function asking<T extends object>(
    ask: () => Promise<T | undefined>,
    what: string,
): Promise<T | Reason | undefined> {
    const look = (): Promise<T | Reason | undefined> => unlessForbidden(ask()).catch(notSeen);
    const seen = await poll(look, (one) => !isReason(one), triesMs, 1_000);
    return isReason(seen) ? reason(seen.code, `it is not known ${what}: ${seen.message}`) : seen;
}

const isReason = (one: object | undefined): one is Reason => one !== undefined && "code" in one;

/** How many of a Service's ready endpoints are cut off at the port that is asked, and how many are ready. */
async function countBehind(
    { namespace, name, port }: AskedService,
    cutOff: readonly CutOff[],
    cluster: Cluster,
): Promise<Counted> {
    const service = await cluster.read({ resource: resources.service, namespace, name });
    const meant = tcpPortsMeant(service, port).map((one) => one.name ?? "");
    const ready = (await endpointsIn(cluster, namespace, name)).filter((one) => one.ready);
    // A pod with addresses of both families is in two slices.
    const each = [...new Map(ready.map((one) => [one.uid ?? one.addresses[0], one])).values()];
    const those = each.filter((one) => {
        const { ports = [] } = cutOff.find(({ target }) => isAt(one, target)) ?? {};
        if (ports === "all") return true;
        const asked = one.ports.filter(({ name }) => meant.includes(name));
        return asked.length > 0 && asked.every(({ port }) => ports.includes(port));
    });
    return [those.length, each.length];
}
