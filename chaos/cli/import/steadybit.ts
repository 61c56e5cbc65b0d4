/**
 * Steadybit: an experiment as its API and its editor write it, in lanes of steps. For the steps, see
 * https://github.com/steadybit/extension-container, extension-http and extension-kubernetes; for the names of targets,
 * https://docs.steadybit.com/concepts/query-language
 */
import type { Check } from "../../kinds/checks/registry";
import type { Action } from "../../kinds/actions/registry";
import type { AttackDefinition } from "../../definition/definition";
import { formatDuration, times } from "../../values/duration";
import { parseJson } from "../../values/json";
import { type Fields, headersAt, noCounterpart, Refusal } from "./fields";
import { type Additions, checkOf, type Draft, type Found, killOnce, killsFewer, placesOf, windowOf } from "./imported";
import { attributeOfNode, type Condition, peersAt, portNeeded, radiusWith, targetOf } from "./target";
import { offsetOf, placed, type Placed, relationTo } from "./timeline";

/** Reads a step's parameters. @param deployment the target of an action */
type Read = (parameters: Fields, step: { durationMs: number; deployment?: string }) => Draft;

type Meaning = { is: "attack" | "action" | "check"; read: Read } | { is: "nothing"; why?: string; untilTrue?: true };

const shown: Meaning = { is: "nothing", why: "only shows something; each run has a report with a picture" };
const onceTrue: Meaning = {
    is: "nothing",
    why: "waits until it is true once, but a check holds all the time: see podsReady and condition",
    untilTrue: true,
};

/** By `actionType`. */
const meanings: Readonly<Record<string, Meaning>> = {
    "com.steadybit.extension_container.network_blackhole": { is: "attack", read: blackholeOf },
    "com.steadybit.extension_container.network_block_dns": { is: "attack", read: dnsOf },
    "com.steadybit.extension_kubernetes.delete_pod": { is: "attack", read: () => killOnce },
    "com.steadybit.extension_kubernetes.rollout-restart": { is: "action", read: rolloutOf },
    "com.steadybit.extension_kubernetes.scale_deployment": { is: "action", read: scaleOf },
    "com.steadybit.extension_http.check.periodically": { is: "check", read: httpOf },
    "com.steadybit.extension_http.check.fixed_amount": { is: "check", read: httpOf },
    "com.steadybit.extension_kubernetes.pod_count_check": onceTrue,
    "com.steadybit.extension_kubernetes.pod_count_check_statefulset": onceTrue,
    "com.steadybit.extension_kubernetes.pod_count_check_daemonset": onceTrue,
    "com.steadybit.extension_kubernetes.rollout-status": onceTrue,
    "com.steadybit.extension_kubernetes.kubernetes_logs": shown,
    "com.steadybit.extension_kubernetes.pod_count_metric": shown,
};

interface Step extends Placed {
    fields: Fields;
    parameters: Fields;
    read: Read;
}

export function ofSteadybit(object: Fields, additions: Additions): Found {
    const name = object.text("name");
    const hypothesis = object.text("hypothesis");
    const steps = placed(object.objects("lanes").map((lane) => lane.objects("steps").map(stepOf)));
    if (object.has("environment"))
        object.note("the kubeconfig and the namespaces of targets say where attacks are", "environment");
    object.noteRest(noCounterpart);
    const those = (does: Meaning["is"]): Step[] =>
        steps.flatMap(({ meaning, ...step }) =>
            meaning.is !== "nothing" && meaning.is === does ? [{ ...step, read: meaning.read }] : [],
        );
    const [attackSteps, actionSteps] = [those("attack"), those("action")];
    for (const { fields, meaning } of steps) if (meaning.is === "nothing" && meaning.why) fields.note(meaning.why);
    const first = attackSteps[0] ?? actionSteps[0];
    if (first === undefined) {
        object.refuse("has no attack and no action that has a counterpart", "lanes");
        return { name, hypothesis };
    }
    const attacks = attackSteps.map((step) => attackOf(step, first, additions));
    const { actions, namespace, places } = actionsOf(actionSteps, first, additions);
    if (attacks.length > 0 && namespace !== undefined && attacks.some((attack) => attack?.namespace !== namespace))
        actionSteps[0]!.fields.refuse("is done in the attacks' namespace, and the file names another", "radius");
    const during = those("check").filter((step) => isDuring(step, first));
    const scales = actionSteps.filter(({ read }) => read === scaleOf);
    const window = windowAround(
        first,
        [...during, ...scales],
        attacks.map((attack) => attack?.definition ?? killOnce),
    );
    const length = window.durationMs === undefined ? times.duration.usual : formatDuration(window.durationMs);
    for (const scale of scales)
        if (endMs(scale, first) !== window.durationMs)
            scale.parameters.note(
                `is scaled back there after this time; here when the run is undone, after a window of ${length}`,
                "duration",
            );
    places["window.duration"] = first.parameters.at("duration");
    for (const [index, { fields }] of attackSteps.entries()) places[`attacks.${index}`] = fields.at();
    const checks = during.map(({ fields, parameters, read, durationMs }, index) => {
        Object.assign(places, placesOf(`checks.${index}`, parameters, placesInCheck));
        places[`checks.${index}.name`] = fields.at("customLabel");
        if (window.durationMs !== durationMs) parameters.note("a check lasts as long as the window", "duration");
        else parameters.take("duration");
        const label = fields.text("customLabel");
        if (label !== undefined && label.length > 60) fields.note("is longer than a check's name, 60", "customLabel");
        const check = read(parameters, { durationMs });
        parameters.refuseRest();
        if (fields.has("radius")) fields.note("requests come from where the update runs", "radius");
        fields.noteRest(noCounterpart);
        return { ...check, name: label === undefined || label.length > 60 ? undefined : label };
    });
    return {
        name,
        hypothesis,
        namespace: attacks.length > 0 ? undefined : namespace,
        attacks: attacks.flatMap((attack) => attack?.definition ?? []) as unknown as AttackDefinition[],
        actions: actions as unknown as Action[],
        checks: checks as unknown as Check[],
        places,
        ...window.args,
    };
}

const placesInCheck = {
    ...Object.fromEntries(["url", "path", "service", "namespace", "port"].map((part) => [part, "url"])),
    method: "method",
    headers: "headers",
    body: "body",
    status: "statusCode",
    timeoutMs: "readTimeout",
    maxLatencyMs: "responseTime",
};

/** No rollout is waited for longer than this. */
const longestRolloutMs = 24 * 3_600_000;

function stepOf(fields: Fields) {
    const type = fields.word("type", { action: "action", wait: "wait" });
    const parameters = fields.object("parameters");
    const meaning: Meaning = type === "action" ? (fields.word("actionType", meanings) ?? onceTrue) : { is: "nothing" };
    const durationMs = parameters.duration("duration") ?? 0;
    const leastMs = meaning.is === "nothing" && meaning.untilTrue ? 0 : durationMs;
    const mostMs = meaning.is === "action" && parameters.text("wait") === "true" ? longestRolloutMs : durationMs;
    return { fields, parameters, meaning, durationMs, leastMs, mostMs };
}

function attackOf(step: Step, first: Step, { namespace }: Additions) {
    const { fields, parameters, read, durationMs } = step;
    if (offsetOf(step, first) !== 0 || durationMs !== first.durationMs)
        fields.refuse("does not begin and end with the other attacks; attacks here do: import one each");
    const bare = read(parameters, { durationMs });
    parameters.refuseRest();
    const radius = fields.object("radius");
    radius.take("targetType");
    const found = targetOf(radius, conditionsIn(radius), namespace);
    const share = radius.number("percentage", { least: 0, most: 100 });
    const count = radius.number("maximum", { least: 1, most: 999_999 });
    if (share === undefined && count === undefined && !radius.has("percentage") && !radius.has("maximum"))
        radius.refuse("has neither percentage nor maximum: say how many targets");
    if (radius.has("percentage") && radius.has("maximum"))
        radius.refuse("is beside percentage, but a radius is a share or a number: omit one", "maximum");
    const isKill = bare === killOnce;
    if (isKill) fields.note(killsFewer);
    const amount = radiusWith(radius, count === undefined ? "percentage" : "maximum", {
        count,
        percent: share,
        of: isKill ? "pods" : "containers",
        rounded: "to the nearest",
    });
    radius.refuseRest();
    finish(fields, "a failure of an attack makes the verdict INCONCLUSIVE");
    const definition: Draft = {
        ...bare,
        target: found?.target,
        radius: amount,
    };
    return found && { definition, namespace: found.namespace };
}

function actionsOf(steps: readonly Step[], first: Step, additions: Additions) {
    const actions: Draft[] = [];
    const places: Record<string, string> = {};
    let namespace: string | undefined;
    let before = first;
    for (const step of steps) {
        const { fields, parameters, read, durationMs } = step;
        const offsetMs = step.lane === steps[0]!.lane ? offsetOf(step, before) : undefined;
        if (offsetMs === undefined || offsetMs < 0)
            fields.refuse("has no certain time after the attack or the action before it: actions are done in order");
        else if (offsetMs > 0) actions.push({ kind: "wait", durationMs: offsetMs });
        const radius = fields.object("radius");
        for (const key of ["targetType", "percentage", "maximum"]) radius.take(key);
        const conditions = conditionsIn(radius);
        const found = targetOf(radius, conditions, additions.namespace);
        const [deployment, ...others] = conditions.filter(({ key }) => key !== "k8s.namespace");
        const names = deployment?.negated || deployment?.values === "any" ? [] : deployment?.values;
        if (deployment?.key !== "k8s.deployment" || names?.length !== 1 || others.length > 0)
            radius.refuse("does not name exactly one Deployment by k8s.deployment");
        if (namespace !== undefined && found?.namespace !== namespace)
            radius.refuse("names another namespace than the action before it");
        namespace = found?.namespace;
        places[`actions.${actions.length}`] = fields.at();
        actions.push(read(parameters, { durationMs, deployment: names?.[0] }));
        parameters.refuseRest();
        radius.refuseRest();
        finish(fields, "a failure of an action makes the verdict INCONCLUSIVE");
        before = step;
    }
    return { actions, namespace, places };
}

function finish(fields: Fields, ofFailure: string): void {
    if (fields.text("ignoreFailure") === "true") fields.note(ofFailure, "ignoreFailure");
    fields.noteRest("is only a label");
}

/** Whether a check lasts for the whole window. If not, it is noted why. */
function isDuring(step: Step, first: Step): boolean {
    const relation = relationTo(first, step);
    const isIgnored = step.fields.text("ignoreFailure") === "true";
    const why = {
        before: "ends before the attack; before one, all checks of the window must hold",
        after: "begins after the attack; after one, the update waits until all checks of the window hold",
        part: "does not surely last as long as the attack, as checks do here",
        during: isIgnored ? "its failure is ignored; a check that fails makes the verdict FAILED" : undefined,
    }[relation];
    if (why !== undefined) step.fields.note(why);
    return why === undefined;
}

/** When a step ends, from the begin of the first attack or action. NaN if that is not certain. */
const endMs = (step: Step, first: Step) => (offsetOf(step, first) ?? NaN) + step.durationMs;

/**
 * The window in which the attack, or the first action, is checked.
 *
 * @param lasting if the first step is done at once, the window lasts until the end of these
 */
function windowAround(first: Step, lasting: readonly Step[], attacks: readonly Draft[]) {
    const lengthMs = Math.max(0, ...lasting.map((step) => endMs(step, first)));
    const durationMs = first.durationMs || lengthMs || undefined;
    if (durationMs !== undefined) return { durationMs, args: windowOf(durationMs, attacks) };
    const why = lasting.length === 0 ? "no step lasts as long as the window" : "when its last step ends is not certain";
    first.fields.note(`is done at once, and ${why}: the window has its default length, ${times.duration.usual}`);
    return { durationMs: undefined, args: {} };
}

const direct = ["namespace", "deployment", "statefulset", "daemonset", "pod.name", "container.name"];
const attributes = new Map([
    ...direct.map((name) => [`k8s.${name}`, `k8s.${name}`] as const),
    ["k8s.node.name", "k8s.node.name"],
    ["host.hostname", "host.hostname"],
    ["container.image", "container.image"],
    // This is the image in the workload's template: see `extcontainer` of extension-kubernetes.
    ["k8s.container.image", "container.image"],
]);

/** Some have other values there: see `mapTarget` of extension-container. */
const differing: Readonly<Record<string, string>> = {
    "host.hostname": "is the name that the host has itself there, and the node's here: compare them",
    "container.image":
        "is there as the container runtime names it, such as docker.io/library/nginx:1.29, and here as the pod's " +
        "spec does, such as nginx:1.29: compare them",
};

/**
 * Steadybit calls these labels of a container's node `k8s.label.NAME`, too: see `extcommon` of extension-kubernetes.
 */
const nodeLabels = new Set([
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
]);

function attributeOf(key: string): string | undefined {
    const [, of, label] = /^k8s\.(?:(pod|node)\.)?label\.(.+)$/.exec(key) ?? [];
    if (label === undefined) return attributes.get(key);
    const isOfNode = of === "node" || (of === undefined && nodeLabels.has(label));
    return isOfNode ? attributeOfNode(label) : `k8s.label.${label}`;
}

/** A name, in quotes if it has special characters; then `!=` and a value, `NOT IN` and values, or `IS NOT PRESENT`. */
const comparison =
    /^\s*(?:"([^"]+)"|([\w./-]+))(?:\s*(!?)=\s*([^()]+)|\s+(NOT\s+)?IN\s*\(([^()]+)\)|\s+IS\s+(NOT\s+)?PRESENT)\s*$/i;
const inQuotes = /^\s*(?:"([^"\\]*)"|([\w./:-]+))\s*$/;

/** Undefined if it is not one of these comparisons. */
function compared(part: string): Condition | undefined {
    const [, quoted, plain, unequal, one, notIn, list, notPresent] = comparison.exec(part) ?? [];
    const key = quoted ?? plain;
    const negated = unequal || notIn || notPresent ? ({ negated: true } as const) : {};
    const texts = (one === undefined ? list?.split(",") : [one])?.map((text) => inQuotes.exec(text));
    if (key === undefined || texts?.includes(null)) return undefined;
    return { key, ...negated, values: texts?.map((found) => found![1] ?? found![2]!) ?? "any" };
}

const ofCluster = "k8s.cluster-name";

function conditionsIn(radius: Fields): Condition[] {
    const before = radius.remarks.refused.length;
    const found = radius.has("predicate") ? ofPredicate(radius.object("predicate")) : [];
    const query = radius.text("query");
    for (const part of query?.split(/\sAND\s/i) ?? []) {
        const condition = compared(part);
        if (condition) found.push(condition);
        else
            radius.refuse(
                "has no counterpart; have one: =, !=, IN, NOT IN, IS PRESENT and IS NOT PRESENT, joined by AND",
                "query",
            );
    }
    const isRead = radius.remarks.refused.length === before;
    if (isRead && found.every(({ key, values }) => key === ofCluster || (key === "k8s.namespace" && values === "any")))
        radius.refuse("selects every target of the cluster: name a namespace, a workload or a label");
    return found.flatMap(({ key, ...compared }) => {
        const attribute = attributeOf(key);
        if (differing[key]) radius.note(`${key} ${differing[key]}`);
        if (attribute !== undefined) return [{ key: attribute, ...compared }];
        if (key === ofCluster) radius.note(`${key}: the kubeconfig and its context name the cluster`);
        else radius.refuse(`${key} ${noCounterpart} among the attributes of targets`);
        return [];
    });
}

function ofPredicate(predicate: Fields): Condition[] {
    const isGroup = predicate.has("predicates");
    const operators = { EQUALS: {}, NOT_EQUALS: { negated: true as const } };
    const operator = predicate.word<Partial<Condition>>("operator", isGroup ? { AND: {} } : operators);
    const inner = isGroup ? predicate.objects("predicates").flatMap(ofPredicate) : [];
    const key = isGroup ? undefined : predicate.text("key");
    const values = isGroup ? [] : predicate.texts("values");
    if (!isGroup && !predicate.has("key")) predicate.refuse("is missing", "key");
    predicate.refuseRest();
    return key === undefined || operator === undefined ? inner : [{ key, ...operator, values }];
}

function blackholeOf(parameters: Fields): Draft {
    ofHostNetwork(parameters);
    const [key] = ["hostname", "ip"].filter((each) => parameters.has(each));
    if (key === undefined) {
        if (parameters.has("port"))
            parameters.refuse("ports of Services count there, and those of pods here: write ports by hand", "port");
        return { kind: "blackhole" };
    }
    const hosts = [...parameters.texts("hostname"), ...parameters.texts("ip")];
    if (!parameters.has("port")) parameters.refuse(`${portNeeded}: write port`, key);
    const ports = parameters.texts("port").map(Number);
    if (!ports.every(Number.isInteger))
        parameters.refuse("is not a list of ports such as 443: write those of a range one by one", "port");
    const places = hosts.flatMap((host) => ports.filter(Number.isInteger).map((port) => ({ host, port })));
    return { kind: "blackhole", ...peersAt(places, parameters, key) };
}

function dnsOf(parameters: Fields): Draft {
    parameters.word("dnsPort", { 53: "53" }, "53");
    ofHostNetwork(parameters);
    return { kind: "dns" };
}

function ofHostNetwork(parameters: Fields): void {
    parameters.take("duration");
    if (parameters.text("failOnHostNetwork") === "false")
        parameters.note("pods on the host's network are never attacked", "failOnHostNetwork");
}

function rolloutOf(parameters: Fields, { deployment }: { deployment?: string }): Draft {
    if (parameters.has("duration"))
        parameters.refuse("is none of a rollout restart: omit it, and set timeoutMs of the action by hand", "duration");
    if (parameters.text("wait") !== "true") parameters.note("a rollout is waited for here", "wait");
    return { kind: "rollout", deployment };
}

function scaleOf(parameters: Fields, { deployment }: { deployment?: string }): Draft {
    parameters.take("duration");
    return { kind: "scale", deployment, replicas: parameters.number("replicaCount", { least: 0, most: 100 }) };
}

const statuses = /^(\d{3})(?:-(\d{3}))?$/;

function httpOf(parameters: Fields, { durationMs }: { durationMs: number }): Draft {
    const [, least, most] = statuses.exec(parameters.text("statusCode") ?? "200-299") ?? [];
    if (least === undefined) parameters.refuse("is not one status or one range of them, such as 200-299", "statusCode");
    const mode = parameters.word("responseTimeMode", responseTimes, "NO_VERIFICATION");
    const responseMs = parameters.duration("responseTime");
    parameters.word("followRedirects", { false: "", true: new Refusal("redirects are not followed") }, "false");
    const unverified = new Refusal(
        "certificates are always verified: write false, and give the CA by the check's caFrom",
    );
    parameters.word("insecureSkipVerify", { false: "", true: unverified }, "false");
    if (parameters.text("failEarly") === "true")
        parameters.note("a check is judged when the window ends; to end the attack early: abortBelow", "failEarly");
    if (parameters.has("responsesContains"))
        parameters.refuse("a check reads JSON, not text: see json of the check http", "responsesContains");
    for (const [key, why] of [
        ["connectTimeout", "the time limit is of the whole request"],
        ["maxConcurrent", "requests are sent at their rate, also while answers are missing"],
    ] as const)
        if (parameters.has(key)) parameters.note(why, key);
    const share = parameters.number("successRate", { least: 1, most: 100 });
    const amount = parameters.number("numberOfRequests", { least: 1, most: 1e9 });
    const body = parameters.text("body");
    const json = body === undefined ? undefined : parseJson(body);
    if (body !== undefined && (typeof json !== "object" || json === null || Array.isArray(json)))
        parameters.refuse("is not an object in JSON", "body");
    const headers = parameters
        .objects("headers")
        .map((header) => [header.text("key") ?? "", header.text("value") ?? ""] as const);
    if (new Set(headers.map(([name]) => name.toLowerCase())).size < headers.length)
        parameters.refuse("names a header twice, but a check sends each once", "headers");
    return {
        ...addressOf(parameters),
        kind: "http",
        method: parameters.text("method"),
        body: json,
        headers: headersAt(parameters, "headers", headers),
        status: most === undefined ? Number(least) : [Number(least), Number(most)],
        maxLatencyMs: mode === "SHORTER_THAN" ? responseMs : undefined,
        timeoutMs: parameters.duration("readTimeout"),
        perSecond:
            amount === undefined
                ? parameters.number("requestsPerSecond", { least: 1, most: 50 })
                : amount / (durationMs / 1_000),
        successRate: share === undefined ? undefined : share / 100,
    };
}

const responseTimes = {
    NO_VERIFICATION: "NO_VERIFICATION",
    SHORTER_THAN: "SHORTER_THAN",
    LONGER_THAN: new Refusal("a check has no least response time"),
};

function addressOf(parameters: Fields) {
    const url = parameters.text("url");
    try {
        if (!parameters.has("url")) parameters.refuse("is missing", "url");
        return url === undefined ? undefined : checkOf(url);
    } catch (error) {
        return void parameters.refuse((error as Error).message, "url");
    }
}
