import { type ObjectReference, referenceAt } from "../cluster/resources";
import { jobPolicyName } from "../ending/scope";
import type { AttackedPod } from "./target-events";

/**
 * What this process has seen of a run's attacks, and what their targets say that an earlier one has seen: somebody may
 * delete something while the Job's pod is replaced.
 */
export class SeenAttacks {
    /** When each attack's object was created, by its path: see `creationOf`. */
    private readonly begunAt = new Map<string, number>();
    /** Paths of attacks' objects that were there before this process. */
    private readonly wereThere = new Set<string>();
    private readonly deleted = new Set<string>();
    /** Names of the run's own NetworkPolicies that were there: the one that lets the Job through, and the others. */
    readonly met = { ofJob: new Set<string>(), others: new Set<string>() };

    /** @param ageOf how long an object has been there, in milliseconds. Undefined if it does not exist */
    constructor(
        private readonly run: string,
        private readonly ageOf: (object: ObjectReference) => Promise<number | undefined>,
    ) {}

    /**
     * Whether an attack has begun. Until then the update may delete the run's policies and make others: it does so when
     * it chooses targets again after a failure.
     */
    get isAttacking(): boolean {
        return this.begunAt.size + this.wereThere.size > 0;
    }

    /**
     * Learns what was there from an attack's targets: the run has made its policies before it labels a target, and an
     * earlier process has noted on a target that the attack had begun.
     */
    learnFrom(targets: readonly AttackedPod[], path: string): void {
        if (targets.length > 0) this.met.ofJob.add(jobPolicyName(this.run));
        if (targets.some(({ begunIn }) => begunIn === this.run)) this.wereThere.add(path);
        if (!this.wasThere(path)) return;
        const { name } = referenceAt(path);
        for (const { combined } of targets) if (combined !== undefined) this.met.others.add(`${name}-${combined}`);
    }

    private wasThere(path: string): boolean {
        return this.begunAt.has(path) || this.wereThere.has(path);
    }

    /** When an attack began. Undefined if that was not seen. */
    beginningOf(path: string): number | undefined {
        return this.begunAt.get(path);
    }

    /**
     * When an attack's object was created, by this node's clock, in milliseconds since the epoch. Undefined while it
     * does not exist. The API server says how long that is ago, since this node's clock may be behind or ahead. A later
     * look does not prolong the attack.
     *
     * @throws Error if the API server does not say
     */
    async creationOf(path: string): Promise<number | undefined> {
        const wasThere = this.wasThere(path);
        const ageMs = await this.ageOf(referenceAt(path));
        if (ageMs === undefined) {
            if (wasThere) this.deleted.add(path);
            return undefined;
        }
        const created = Math.min(Date.now() - Math.max(0, ageMs), this.begunAt.get(path) ?? Infinity);
        this.begunAt.set(path, created);
        return created;
    }

    /**
     * When the first of some attacks' objects was created. Undefined while there is none.
     *
     * @throws Error if the API server does not say of one, and no earlier look has shown any
     */
    async firstOf(paths: readonly string[]): Promise<number | undefined> {
        const looks = await Promise.allSettled(paths.map((path) => this.creationOf(path)));
        const created = looks.flatMap((look) => (look.status === "fulfilled" ? (look.value ?? []) : []));
        const failed = looks.find((look) => look.status === "rejected");
        const known = failed ? [...created, ...this.begunAt.values()] : created;
        if (failed && known.length === 0) throw failed.reason;
        return known.length === 0 ? undefined : Math.min(...known);
    }

    /**
     * Why an attack is over whose object somebody has deleted. What the run has changed for it is still there: policies
     * that no longer select its targets, say.
     */
    whyDeleted(): string | undefined {
        const [gone] = [...this.deleted].map(referenceAt);
        return gone && `the attack's ${gone.resource.kind} ${gone.name} was deleted`;
    }
}
