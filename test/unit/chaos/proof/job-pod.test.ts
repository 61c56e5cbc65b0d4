import { expect, it } from "vitest";
import { annotations } from "../../../../chaos/cluster/labels";
import { deadlineContainer, type LogLine, type Presence } from "../../../../chaos/witness/protocol";
import type { Plan } from "../../../../chaos/definition/plan";
import { JobPod } from "../../../../chaos/proof/job-pod";
import { FakeCluster, refuse } from "../support/fake-cluster";

const startedAt = "2026-11-21T10:00:00Z";
const begun = Date.parse(startedAt) + 400;
/** Of a container that was restarted. */
const ended = { terminated: { finishedAt: "2026-11-21T09:59:58Z" } };

/** A cluster with the Job and its pod, as far as that is not said otherwise. */
function clusterWith({
    noted = {},
    state = { running: { startedAt } },
    lastState = {},
    status = {},
}: { noted?: Partial<Presence> | string; state?: object; lastState?: object; status?: object } = {}) {
    const cluster = new FakeCluster();
    const { uid } = cluster.add("Job", "job").metadata;
    cluster.addRightsOfJob("job");
    const presence: Partial<Presence> = { address: "fd00::9", watched: [], ...(noted as object) };
    const labels = { "batch.kubernetes.io/job-name": "job" };
    const pod = (ownerReferences: object[], presence: string) => ({
        metadata: { labels, ownerReferences, annotations: { [annotations.witness]: presence } },
        status: { phase: "Running", containerStatuses: [{ name: deadlineContainer, state, lastState }], ...status },
    });
    const owner = { kind: "Job", name: "job", uid, controller: true };
    cluster.add("Pod", "job-1", pod([owner], typeof noted === "string" ? noted : JSON.stringify(presence)));
    const forge = (name: string, ...owners: object[]) =>
        cluster.add("Pod", name, pod(owners, JSON.stringify({ address: "10.6.6.6", watched: ["10.0.0.1:80"] })));
    return { cluster, forge, uid, job: new JobPod(cluster.api, "demo", "job") };
}

const isPresent = (job: JobPod) =>
    job
        .awaitPresence(0, () => true)
        .then(
            () => true,
            () => false,
        );

it.each<[string, Partial<Presence>, object, string[]]>([
    ["all that its pod notes", { addresses: ["fd00::9", "10.0.0.9"] }, {}, ["fd00::9", "10.0.0.9"]],
    ["the one that an earlier version's Job notes", {}, {}, ["fd00::9"]],
    ["those that the kubelet gives, whatever is noted", {}, { podIPs: [{ ip: "10.0.0.7" }] }, ["10.0.0.7"]],
])("the witness may connect from %s", async (_, noted, status, addresses) => {
    expect(await clusterWith({ noted, status }).job.addresses(0)).toEqual(addresses);
});

it.each<[string, Parameters<typeof clusterWith>[0], boolean]>([
    ["runs, and has noted it", { noted: { begun } }, true],
    ["is of an earlier version, and has noted it", {}, true],
    ["has noted it before the kubelet says that it had started", { noted: { begun: begun - 1_000 } }, true],
    ["has noted it before its container was restarted", { noted: { begun: begun - 60_000 }, lastState: ended }, false],
    ["has noted it since its container was restarted", { noted: { begun }, lastState: ended }, true],
    [
        "has noted it, and the kubelet does not say yet that it runs",
        { noted: { begun }, state: { waiting: { reason: "ContainerCreating" } } },
        true,
    ],
    [
        "has noted it before its container was made anew",
        { noted: { begun }, state: { waiting: { reason: "ContainerCreating" } }, lastState: ended },
        false,
    ],
    ["waits to be restarted", { state: { waiting: { reason: "CrashLoopBackOff" } } }, false],
    ["has failed", { status: { phase: "Failed" } }, false],
    ["has a note that somebody has edited", { noted: "{x}" }, false],
])("a pod is present if it %s: %s %s", async (_, pod, expected) => {
    expect(await isPresent(clusterWith(pod).job)).toBe(expected);
});

it("nothing begins until the Job runs, which a pod that was just replaced does soon", async () => {
    const { job, cluster } = clusterWith({ status: { phase: "Failed" } });
    const wanted = job.requireRunning({ attacks: [{}] } as Plan);
    cluster.get("Pod", "job-1").status.phase = "Running";
    await expect(wanted).resolves.toBeUndefined();
});

it.each([
    ["is gone: somebody has deleted it", (cluster: FakeCluster) => cluster.remove("Job", "job")],
    ["is suspended", (cluster: FakeCluster) => (cluster.get("Job", "job").spec = { suspend: true })],
])("nothing begins once the Job %s", async (why, lose) => {
    const { job, cluster } = clusterWith();
    await job.requireRunning({ attacks: [{}] } as Plan);
    lose(cluster);
    await expect(job.requireRunning({ attacks: [{}] } as Plan)).rejects.toThrow(
        `the Job job, which must undo the run at its deadline, ${why}`,
    );
});

it.each(["ServiceAccount", "Role", "RoleBinding", "ConfigMap"] as const)(
    "nothing begins once somebody has deleted the Job's %s: it could not end it",
    async (kind) => {
        const { job, cluster } = clusterWith();
        cluster.remove(kind, "job");
        await expect(job.requireRunning({ attacks: [{}] } as Plan)).rejects.toThrow(
            `the ${kind} job is gone, without which the Job of that name may not undo the run`,
        );
    },
);

it.each([
    ["Role", { rules: [] }, "gives no rights"],
    ["RoleBinding", { subjects: [{ kind: "ServiceAccount", name: "other" }] }, "gives the Job's account no rights"],
] as const)("nor once somebody has emptied its %s", async (kind, content, why) => {
    const { job, cluster } = clusterWith();
    cluster.add(kind, "job", content);
    await expect(job.requireRunning({ attacks: [{}] } as Plan)).rejects.toThrow(
        `the ${kind} job ${why}, without which the Job of that name may not undo the run`,
    );
});

it("an account that may not look at the Job's rights takes them for there", async () => {
    const { job, cluster } = clusterWith();
    cluster.intercept = (call) => {
        if (/^get (Role|RoleBinding|ServiceAccount|ConfigMap)$/.test(call)) refuse(403, "no right");
    };
    await expect(job.requireRunning({ attacks: [{}] } as Plan)).resolves.toBeUndefined();
});

it("another pod with the Job's label is not the Job's, neither of another uid nor without a controller", async () => {
    const { job, forge, uid, cluster } = clusterWith();
    forge("a");
    forge("b", { kind: "Job", name: "job", uid: "another", controller: true });
    forge("c", { kind: "Job", name: "job", uid });
    const read: string[] = [];
    const line: LogLine = { begun: 1, line: 0, at: 1, changed: { open: ["10.0.0.1:80"] } };
    cluster.intercept = (call, { name }) => {
        if (call === "get Pod/log") read.push(name!);
    };
    for (const pod of ["job-1", "a", "b", "c"]) cluster.logs.set(pod, JSON.stringify(line));
    expect(await job.addresses(0)).toEqual(["fd00::9"]);
    expect((await job.read()).reports).toHaveLength(1);
    expect(read).toEqual(["job-1"]);
});

it.each([
    ["no JSON", "{x}"],
    ["null", "null"],
    ["another object", '{"begun":1}'],
    ["a line of which a list is none", '{"begun":1,"line":1,"at":2,"changed":{"open":5}}'],
])("a line of the log that is %s is not read, and the others are", async (_, garbage) => {
    const { job, cluster } = clusterWith();
    const lines = [0, 1].map((line) =>
        JSON.stringify({ begun: 1, line, at: line, changed: { open: ["10.0.0.1:80"] } }),
    );
    cluster.logs.set("job-1", [lines[0], garbage, lines[1]].join("\n"));
    expect((await job.read()).reports.map(({ at }) => at)).toEqual([0, 1]);
});
