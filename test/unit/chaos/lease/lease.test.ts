import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { acquireLease, LeaseHeldError, leaseFor, isUnderWay, releaseLease } from "../../../../chaos/lease/lease";
import { leaseName, stopCommand } from "../../../../chaos/lease/lease-record";
import { type Plan, runNameOf } from "../../../../chaos/definition/plan";
import { leasePreparationMs } from "../../../../chaos/lease/lease-record";
import { enforcementTimeoutMs } from "../../../../chaos/policies/enforcement";
import { startTimeoutMs } from "../../../../chaos/proof/job-pod";
import { readableMs } from "../../../../chaos/proof/attack-proof";
import { FakeCluster, refuse } from "../support/fake-cluster";
import { startClock, stopClock } from "../support/time";

const holder = (stack: string) => ({
    stack,
    plan: {
        namespace: "demo",
        defaultNamespace: "shop",
        experiment: "hot-deals-blackhole",
        deadlineMs: 600_000,
        attacks: [{ name: "blackhole", attack: { kind: "blackhole" } }] as Plan["attacks"],
    } as Plan,
});
const [ours, theirs] = [holder("ours"), holder("theirs")];
const oursNamed = runNameOf(ours.plan, ours.stack);
/** The deadline, and five minutes to prepare the attack. */
const lastsMs = 900_000;

let cluster: FakeCluster;
const lease = () => cluster.get("Lease", leaseName);

beforeEach(() => {
    stopClock();
    cluster = new FakeCluster();
});
afterEach(startClock);

describe("taking the lease", () => {
    it("leaves time for all that a run may wait for before its attack, and for Pulumi", () => {
        const longest = startTimeoutMs + readableMs + 2 * enforcementTimeoutMs;
        expect(leasePreparationMs).toBeGreaterThan(longest + 30_000);
    });

    it("creates it with its holder, its experiment, its run, the targets that are watched and its length", async () => {
        await acquireLease(cluster.api, ours);
        expect(lease()).toMatchObject({
            metadata: {
                annotations: {
                    "chaos-experiments/experiment": "hot-deals-blackhole",
                    "chaos-experiments/run": runNameOf(ours.plan, ours.stack),
                    "chaos-experiments/kept": '{"hot-deals-blackhole.blackhole":{}}',
                },
            },
            spec: { holderIdentity: "stack ours (its application is in shop)", leaseDurationSeconds: lastsMs / 1_000 },
        });
    });

    it("fails while another stack holds it, and names the holder and the end", async () => {
        await acquireLease(cluster.api, theirs);
        const before = structuredClone(lease());
        const refused = acquireLease(cluster.api, ours);
        await expect(refused).rejects.toThrow(LeaseHeldError);
        await expect(refused).rejects.toThrow(
            "stack theirs (its application is in shop) runs hot-deals-blackhole in namespace demo, until it is " +
                "disabled there or its lease ends at 2026-11-21T10:15:00.000Z",
        );
        expect(lease()).toEqual(before);
    });

    it("fails while a stack of the same name in another backend holds it", async () => {
        await acquireLease(cluster.api, holder("local/identity-a"));
        await expect(acquireLease(cluster.api, holder("local/identity-b"))).rejects.toThrow(
            "stack local/identity-a (its application is in shop) runs hot-deals-blackhole",
        );
    });

    it("renews the stack's own lease", async () => {
        await acquireLease(cluster.api, ours);
        vi.advanceTimersByTime(60_000);
        await acquireLease(cluster.api, ours);
        expect(new Date(lease().spec.renewTime)).toEqual(new Date());
    });

    it("takes over another stack's lease once it has expired, and not before", async () => {
        await acquireLease(cluster.api, theirs);
        vi.advanceTimersByTime(lastsMs);
        await expect(acquireLease(cluster.api, ours)).rejects.toThrow(LeaseHeldError);
        vi.advanceTimersByTime(1_000);
        await acquireLease(cluster.api, ours);
        expect(lease().spec.holderIdentity).toContain("stack ours");
    });

    it("takes over another stack's by the API server's clock, however wrong those of the machines are", async () => {
        const [ahead, behind] = [3_600_000, -3_600_000];
        cluster.clockAheadMs = behind;
        await acquireLease(cluster.api, theirs);
        const renewed = new Date(lease().spec.renewTime).getTime();
        expect(renewed - Date.now()).toBe(behind);
        // The other machine's clock is an hour behind.
        cluster.clockAheadMs = ahead;
        vi.setSystemTime(renewed - ahead);
        await expect(acquireLease(cluster.api, ours)).rejects.toThrow(LeaseHeldError);
        expect(await leaseFor(cluster.api, ours)).toHaveProperty("others");
        vi.advanceTimersByTime(lastsMs + 1_000);
        expect(await leaseFor(cluster.api, ours)).toEqual({});
        await acquireLease(cluster.api, ours);
        expect(lease().spec.holderIdentity).toContain("stack ours");
    });

    it("does not take over another stack's if this machine's clock is ahead", async () => {
        await acquireLease(cluster.api, theirs);
        cluster.clockAheadMs = -lastsMs - 60_000;
        vi.advanceTimersByTime(lastsMs + 60_000);
        expect(await leaseFor(cluster.api, ours)).toHaveProperty("others");
        await expect(acquireLease(cluster.api, ours)).rejects.toThrow(LeaseHeldError);
    });

    it.each([{}, { holderIdentity: "somebody" }, { renewTime: "2026-11-21T10:00:00Z", leaseDurationSeconds: 1 }])(
        "takes over one that says of no time that it is held, as somebody else has made it: %j",
        async (spec) => {
            cluster.add("Lease", leaseName, { spec: spec as never });
            vi.setSystemTime(Date.parse("2026-11-21T10:00:02Z"));
            expect(await leaseFor(cluster.api, ours)).toEqual({});
            await acquireLease(cluster.api, ours);
            expect(lease().spec.holderIdentity).toContain("stack ours");
        },
    );

    it("fails if a third stack takes over the expired lease first", async () => {
        await acquireLease(cluster.api, theirs);
        vi.advanceTimersByTime(lastsMs + 1_000);
        cluster.intercept = (call) => {
            if (call === "replace Lease") lease().metadata.resourceVersion = "changed";
        };
        await expect(acquireLease(cluster.api, ours)).rejects.toThrow(
            "another experiment has just begun in namespace demo",
        );
        expect(lease().spec.holderIdentity).toContain("stack theirs");
    });

    it("creates it if it was released between two calls", async () => {
        await acquireLease(cluster.api, theirs);
        cluster.intercept = (call) => {
            if (call === "get Lease") cluster.remove("Lease", leaseName);
        };
        await acquireLease(cluster.api, ours);
        expect(lease().spec.holderIdentity).toContain("stack ours");
    });

    it("fails with any other error of the API server", async () => {
        cluster.intercept = () => refuse(403, "leases is forbidden");
        await expect(acquireLease(cluster.api, ours)).rejects.toThrow("leases is forbidden");
    });
});

describe("renewing the lease", () => {
    it("fails if it was deleted, even between two calls", async () => {
        await expect(acquireLease(cluster.api, ours, oursNamed)).rejects.toThrow("was deleted, which ends the run");
        await acquireLease(cluster.api, ours);
        cluster.intercept = (call) => {
            if (call === "replace Lease") cluster.remove("Lease", leaseName);
        };
        await expect(acquireLease(cluster.api, ours, oursNamed)).rejects.toThrow();
        expect(cluster.names("Lease")).toEqual([]);
    });

    it("does not put off the deadline of a run without attacks, which its Job counts from the first time", async () => {
        await acquireLease(cluster.api, ours);
        vi.advanceTimersByTime(590_000);
        await acquireLease(cluster.api, ours, oursNamed);
        expect(await isUnderWay(cluster.api, ours.plan, oursNamed)).toBe(true);
        vi.advanceTimersByTime(11_000);
        expect(await isUnderWay(cluster.api, ours.plan, oursNamed)).toBe(false);
    });

    it("fails if another stack has taken it", async () => {
        await acquireLease(cluster.api, theirs);
        await expect(acquireLease(cluster.api, ours, oursNamed)).rejects.toThrow(LeaseHeldError);
    });
});

it.each([
    ["kind-kind", "kind-kind"],
    ["arn:aws:eks:eu-west-1:1:cluster/it", "arn:aws:eks:eu-west-1:1:cluster/it"],
    ["o'hara's cluster", `'o'"'"'hara'"'"'s cluster'`],
])("the command that stops a run in the context %s can be pasted into a shell", (context, quoted) => {
    const command = `kubectl --context ${quoted} --namespace demo delete lease chaos-experiment`;
    expect(stopCommand({ context, namespace: "demo" })).toBe(command);
});

describe("releasing the lease", () => {
    it("deletes the stack's own lease", async () => {
        await acquireLease(cluster.api, ours);
        await releaseLease(cluster.api, ours);
        expect(cluster.names("Lease")).toEqual([]);
    });

    it("keeps another stack's lease, even if it has expired", async () => {
        await acquireLease(cluster.api, theirs);
        vi.advanceTimersByTime(lastsMs + 1_000);
        await releaseLease(cluster.api, ours);
        expect(cluster.names("Lease")).toEqual([leaseName]);
    });

    it("does nothing without a lease", () => expect(releaseLease(cluster.api, ours)).resolves.toBeUndefined());

    it("does not delete a lease that has been taken over since it was read", async () => {
        await acquireLease(cluster.api, ours);
        cluster.intercept = (call) => {
            if (call !== "delete Lease") return;
            lease().metadata.resourceVersion = "changed";
            lease().spec.holderIdentity = "stack theirs (its application is in shop)";
        };
        await releaseLease(cluster.api, ours);
        expect(cluster.names("Lease")).toEqual([leaseName]);
    });
});

describe("the lease is another stack's", () => {
    it("only while it has not expired", async () => {
        expect(await leaseFor(cluster.api, ours)).toEqual({});
        await acquireLease(cluster.api, theirs);
        expect(await leaseFor(cluster.api, ours)).toEqual({
            others: expect.stringMatching(/^stack theirs .* runs hot-deals-blackhole/),
        });
        vi.advanceTimersByTime(lastsMs + 1_000);
        expect(await leaseFor(cluster.api, ours)).toEqual({});
    });

    it("never if it is one's own, which stays so after its end", async () => {
        await acquireLease(cluster.api, theirs);
        expect(await leaseFor(cluster.api, theirs)).toEqual({ own: lease() });
        vi.advanceTimersByTime(lastsMs + 1_000);
        expect(await leaseFor(cluster.api, theirs)).toEqual({ own: lease() });
    });
});
