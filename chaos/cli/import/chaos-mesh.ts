/**
 * Chaos Mesh: PodChaos, NetworkChaos, HTTPChaos and StressChaos of chaos-mesh.org/v1alpha1, also inside a Schedule:
 * https://github.com/chaos-mesh/chaos-mesh/tree/master/api/v1alpha1 and https://chaos-mesh.org/docs/
 */
import { times } from "../../values/duration";
import { Fields, headersAt, noCounterpart, Refusal } from "./fields";
import { type Additions, type Draft, type Found, killOnce, killsFewer, placesOf, windowOf } from "./imported";
import { attributeOfNode, type Condition, peersAt, portNeeded, radiusWith, targetOf } from "./target";

const without = (what: string) => new Refusal(`${what}; no attack does that`);
const netem = without("shapes packets");

const podActions: Record<string, Draft | Refusal> = {
    "pod-kill": killOnce,
    "pod-failure": without("gives the pods an image that only pauses"),
    "container-kill": without("kills a container and leaves its pod"),
};

const networkActions: Record<string, Draft | Refusal> = {
    partition: { kind: "blackhole" },
    delay: new Refusal("delays packets; a fault delays requests through a Service, which is another attack"),
    loss: netem,
    duplicate: netem,
    corrupt: netem,
    bandwidth: netem,
    netem,
};

/** Packets of one direction are also the answers in connections that the other side has opened. */
const oneWay = new Refusal(
    "drops the packets of one direction, so TCP works in neither and UDP in one; no attack does that. " +
        "To cut off both, write direction: both",
);

/** An attack, and the names of its containers. @default all */
type Read = Draft & { containers?: string[] };

/** Each reads an attack without its target. Undefined if a field is refused on which the others depend. */
const kinds: Record<string, (spec: Fields, additions: Additions) => Read | undefined> = {
    PodChaos(spec) {
        const attack = spec.word("action", podActions);
        if (attack === undefined) return undefined;
        spec.note(
            "pods end within their terminationGracePeriodSeconds; its default, 0, ends them at once",
            "gracePeriod",
        );
        spec.note(killsFewer, "action");
        if (spec.has("containerNames")) spec.note("Chaos Mesh ignores it beside pod-kill", "containerNames");
        return attack;
    },
    NetworkChaos(spec, additions) {
        const attack = spec.word("action", networkActions);
        if (attack === undefined) return undefined;
        const isExternal = spec.has("externalTargets");
        // No packet reaches a port to which nothing may connect, so each direction but "from" means the same.
        spec.word("direction", { both: "both", to: isExternal ? "to" : oneWay, from: oneWay }, "to");
        const isOfPods = spec.has("target") || spec.isEmpty("target");
        if (isExternal && isOfPods)
            spec.refuse("is beside externalTargets, but peers are either pods or addresses: import one each", "target");
        if (isExternal) {
            spec.take("target");
            return { ...attack, ...externalPeers(spec) };
        }
        if (!isOfPods) return attack;
        const target = spec.object("target");
        target.word("mode", { all: "all" });
        noteUnusedValue(target);
        const peers = selected(target, additions.namespace);
        target.refuseRest();
        return { ...attack, peers: peers?.target };
    },
    HTTPChaos(spec, { service }) {
        if (service === undefined)
            spec.refuse(
                "a fault needs the Service through which requests come, and the file has none: add --service NAME",
            );
        spec.word("target", {
            Request: "Request",
            Response: new Refusal("changes the answers of the pods; a fault holds or aborts requests before these"),
        });
        const abort = spec.word("abort", { true: "reset", false: "" }, "false");
        if (abort === "reset" && spec.has("delay")) spec.refuse("has no effect there beside abort: omit one", "delay");
        spec.note(
            "also hits what the pods send to this port, and requests that reach them past the Service; " +
                "here only requests through the Service are hit, on all of its ports",
            "port",
        );
        const match = matchOf(spec, service);
        return { kind: "fault", service, delay: spec.text("delay"), abort: abort || undefined, match };
    },
    StressChaos(spec) {
        if (spec.has("stressngStressors"))
            spec.refuse("are arguments of stress-ng; write the load at stressors", "stressngStressors");
        const stressors = spec.object("stressors");
        if (!stressors.has("cpu") && !stressors.has("memory"))
            spec.refuse("has neither cpu nor memory, so nothing is loaded", "stressors");
        const attack = {
            kind: "stress",
            cpu: stressors.has("cpu") ? coresOf(stressors.object("cpu")) : undefined,
            memory: stressors.has("memory") ? bytesOf(stressors.object("memory")) : undefined,
            containers: spec.texts("containerNames"),
        };
        stressors.refuseRest();
        spec.note("a container without a limit is refused here, unless you add neighbours: accept", "stressors");
        if (!spec.has("containerNames"))
            spec.note(
                "is missing, so Chaos Mesh loads the first container of each pod; here all that match",
                "containerNames",
            );
        return attack;
    },
};

const ofStressNg = "is an option of stress-ng, which has no counterpart";

/** Each worker takes its share of a core. */
function coresOf(cpu: Fields): string | undefined {
    const workers = cpu.number("workers", { least: 1, most: 1_024 });
    const load = cpu.number("load", { least: 1, most: 100 }) ?? 100;
    if (cpu.has("options")) cpu.refuse(ofStressNg, "options");
    if (workers === undefined && !cpu.has("workers")) cpu.refuse("is missing", "workers");
    cpu.refuseRest();
    return workers === undefined ? undefined : `${Math.round(workers * load * 10)}m`;
}

/** All workers together take the size, of which Chaos Mesh counts units by 1,024. */
function bytesOf(memory: Fields): string | undefined {
    const size = memory.text("size");
    const [, number, unit] = /^(\d+)(?:([KMGT])i?B|B)$/.exec(size ?? "") ?? [];
    if (memory.has("options")) memory.refuse(ofStressNg, "options");
    memory.number("workers", { least: 1, most: 8_192 });
    if (memory.has("oomScoreAdj")) memory.note("the load is always the first that the kernel kills", "oomScoreAdj");
    memory.refuseRest();
    if (size?.endsWith("%")) {
        memory.note("of the container's memory limit here, of which it always stays short", "size");
        return size;
    }
    const bytes = Number(number) * 1_024 ** " KMGT".indexOf(unit ?? " ");
    if (bytes >= 1_024 ** 2) return `${Math.round(bytes / 1_024 ** 2)}Mi`;
    return void memory.refuse(
        size === undefined
            ? "is missing: write how much is taken"
            : "is not at least 1MB, such as 256MB, or a percentage",
        "size",
    );
}

/** Chaos Mesh reads them so: https://github.com/chaos-mesh/chaos-mesh/blob/master/pkg/netutils */
const hostAndPort = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d+)$/;

function externalPeers(spec: Fields) {
    const places = spec.texts("externalTargets").flatMap((text, index) => {
        const [, inBrackets, plain, port] = hostAndPort.exec(text) ?? [];
        if (port === undefined) spec.refuse(`${portNeeded}: write HOST:PORT`, `externalTargets.${index}`);
        return port === undefined ? [] : { host: inBrackets ?? plain!, port: Number(port) };
    });
    return peersAt(places, spec, "externalTargets");
}

/**
 * Reads its selector (https://github.com/chaos-mesh/rs-tproxy). Paths there have the wildcards `*` and `?`; only a path
 * that ends in its only `*` means the same here.
 */
function matchOf(spec: Fields, service: string | undefined): Draft["match"] {
    for (const key of ["path", "method"]) if (spec.isEmpty(key)) spec.refuse("is empty, so no request matches", key);
    const [path, method] = [spec.text("path"), spec.text("method")];
    if (path !== undefined && !/^(?:\*|\/[^*?]*\*?)$/.test(path))
        spec.refuse("is neither a path such as /api/orders nor one that ends in its only *, such as /api/*", "path");
    const headers = spec.textsByKey("request_headers");
    for (const [header, host] of headers)
        if (header.toLowerCase() === "host" && service !== undefined && !isHostOf(service, host))
            spec.refuse(
                `names another host than Service ${service}, so it is of requests that the pods send, and a fault is ` +
                    `of requests through the Service; allowed: ${service}, ${service}.NAMESPACE or ` +
                    `${service}.NAMESPACE.svc, each also with a port. If callers of the Service send this host, ` +
                    "remove it here, and add it to match in the result",
                `request_headers.${header}`,
            );
    const match = {
        path: path === "*" || path === "/*" ? undefined : path,
        method,
        headers: headersAt(spec, "request_headers", headers),
    };
    return Object.values(match).some((part) => part !== undefined) ? match : undefined;
}

function isHostOf(service: string, host: string): boolean {
    const [name, namespace, ...rest] = host.replace(/:\d+$/, "").split(".");
    return name === service && namespace !== "" && ["", "svc", "svc.cluster.local"].includes(rest.join("."));
}

export function ofChaosMesh(object: Fields, additions: Additions): Found {
    object.take("apiVersion");
    const metadata = object.object("metadata");
    const name = metadata.text("name");
    const namespace = metadata.text("namespace") ?? additions.namespace;
    metadata.noteRest("is of the object, not of the experiment");
    const spec = object.object("spec");
    const isSchedule = object.text("kind") === "Schedule";
    const read = isSchedule ? spec.word("type", kinds) : object.word("kind", kinds);
    object.noteRest("is what Chaos Mesh found");
    if (read === undefined) return { name };
    // A Schedule has a PodChaos at podChaos, and a NetworkChaos at networkChaos.
    const inner = isSchedule
        ? spec.object(spec.text("type")!.replace(/^[A-Z]+(?=Chaos)|^[A-Z]/, (start) => start.toLowerCase()))
        : spec;
    if (isSchedule) spec.noteRest(runsOnce);
    return { name, ...chaosOf(inner, read(inner, { ...additions, namespace }), { ...additions, namespace }) };
}

const runsOnce = "an experiment runs once, in its update: schedule the updates";

function chaosOf(spec: Fields, read: Read | undefined, { namespace }: Additions): Found {
    if (read === undefined) return {};
    const { containers, ...attack } = read;
    const isOnce = read === killOnce;
    const target = selected(spec, namespace, containers)?.target;
    const attacks = [{ ...attack, target, radius: radiusOf(spec) }];
    if (isOnce && spec.has("duration")) spec.note("the pods are deleted once, at the beginning", "duration");
    const durationMs = isOnce ? undefined : spec.duration("duration");
    if (durationMs === undefined && !isOnce)
        spec.note(`is missing, so it lasts until it is deleted; here ${times.duration.usual}, the default`, "duration");
    if (spec.has("scheduler")) spec.note(runsOnce, "scheduler");
    spec.refuseRest();
    const places = {
        ...placesOf("attacks.0", spec, placesInAttack),
        "attacks.0.peers": spec.at(spec.has("externalTargets") ? "externalTargets" : "target"),
        "window.duration": spec.at("duration"),
    };
    return { attacks, places, ...(durationMs === undefined ? {} : windowOf(durationMs, attacks)) } as Found;
}

const placesInAttack = {
    target: "selector",
    radius: "value",
    delay: "delay",
    "match.path": "path",
    "match.method": "method",
    "match.headers": "request_headers",
    cpu: "stressors",
    memory: "stressors",
};

type Amount = { count?: number } | { percent?: number };

const modes: Record<string, Amount | ((spec: Fields) => Amount) | Refusal> = {
    one: { count: 1 },
    all: { percent: 100 },
    fixed: (spec) => ({ count: valueOf(spec, 999_999) }),
    "fixed-percent": (spec) => ({ percent: valueOf(spec, 100) }),
    "random-max-percent": new Refusal("chooses the percentage by chance; a radius is fixed"),
};

function valueOf(spec: Fields, most: number): number | undefined {
    if (!spec.has("value")) spec.refuse("is missing", "value");
    return spec.number("value", { least: 1, most });
}

function radiusOf(spec: Fields): Draft["radius"] {
    const mode = spec.word("mode", modes);
    if (typeof mode === "object") noteUnusedValue(spec);
    const amount = typeof mode === "function" ? mode(spec) : mode;
    return radiusWith(spec, "mode", { ...amount, of: "pods", rounded: "up to at least one since Chaos Mesh 2.2" });
}

function noteUnusedValue(spec: Fields): void {
    if (spec.has("value")) spec.note("Chaos Mesh ignores it beside this mode", "value");
}

const operators: Record<string, (values: string[]) => Pick<Condition, "values" | "negated">> = {
    In: (values) => ({ values }),
    NotIn: (values) => ({ values, negated: true }),
    Exists: () => ({ values: "any" }),
    DoesNotExist: () => ({ values: "any", negated: true }),
};

const fieldsOfPods = new Map([
    ["metadata.name", "k8s.pod.name"],
    ["metadata.namespace", "k8s.namespace"],
    ["spec.nodeName", "k8s.node.name"],
]);

/**
 * @param named the object's namespace, for a selector without one
 * @param containers their names. @default all
 */
function selected(spec: Fields, named: string | undefined, containers: readonly string[] = []) {
    if (!spec.has("selector") && !spec.isEmpty("selector"))
        return void spec.refuse("is missing: write {} for all pods of the namespace", "selector");
    const selector = spec.object("selector");
    const conditions: Condition[] = [];
    const add = (key: string, values: string[]) => values.length > 0 && conditions.push({ key, values });
    add("k8s.container.name", [...containers]);
    if (selector.has("pods")) {
        const pods = selector.object("pods");
        for (const namespace of pods.keys()) if (!pods.has(namespace)) pods.refuse("names no pod", namespace);
        add("k8s.namespace", pods.keys());
        add(
            "k8s.pod.name",
            pods.keys().flatMap((namespace) => pods.texts(namespace)),
        );
        selector.noteRest("Chaos Mesh ignores it beside pods");
        return targetOf(selector, conditions, named);
    }
    add("k8s.namespace", selector.texts("namespaces"));
    add("k8s.node.name", selector.texts("nodes"));
    if (selector.has("nodes") && selector.has("nodeSelectors"))
        selector.refuse("is for further nodes beside nodes; conditions here must all hold: omit one", "nodeSelectors");
    for (const [label, value] of selector.textsByKey("nodeSelectors")) add(attributeOfNode(label), [value]);
    for (const [label, value] of selector.textsByKey("labelSelectors")) add(`k8s.label.${label}`, [value]);
    for (const [field, value] of selector.textsByKey("fieldSelectors")) {
        const key = fieldsOfPods.get(field);
        if (key === undefined) selector.refuse(`${field} ${noCounterpart}`, "fieldSelectors");
        else add(key, [value]);
    }
    for (const expression of selector.objects("expressionSelectors")) {
        const key = expression.text("key") ?? "";
        const condition = expression.word("operator", operators)?.(expression.texts("values"));
        if (condition) conditions.push({ key: `k8s.label.${key}`, ...condition });
    }
    // Only running pods can be targets.
    if (selector.texts("podPhaseSelectors").some((phase) => phase !== "Running"))
        selector.refuse("only running pods can be targets", "podPhaseSelectors");
    selector.refuseRest();
    return targetOf(selector, conditions, named);
}
