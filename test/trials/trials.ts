import { removeNamespaces } from "../../bench/cluster";
import { plainError } from "../../cli/print";
import { choices, type DeniedTraffic } from "../../sandbox/node/choices";
import { TestStack } from "../e2e/shop/support";
import { complete } from "./complete";
import { describeAllowed } from "./judge";
import type { Kind, Seen } from "./kind";
import { setDenied } from "./network";
import { randomOf } from "./random";
import type { Result } from "./results";
import type { Planned } from "./schedule";
import { discardReport, type Shape, Shop } from "./shop";
import { removeLimit } from "./troubles/too-many-requests";

/** Names of the stacks and their namespaces, which are deleted with everything in them. */
const stackNames = ["trials-1", "trials-2"] as const;

/** Ends trials early. */
export interface Interruption {
    /** Nothing new is begun. */
    signal: AbortSignal;
    /** A running update is canceled. */
    cancel: AbortSignal;
}

/** Does trials on the sandbox. Shops are kept from trial to trial. */
export class Trials {
    private readonly shops: Shop[] = [];
    private denied: DeniedTraffic;

    private constructor(
        private readonly seed: string,
        private readonly interruption: Interruption,
        private readonly usualDenied: DeniedTraffic,
    ) {
        this.denied = usualDenied;
    }

    /** Opens the stacks, and removes what a killed program has left of them. */
    static async open(seed: string, stacks: number, interruption: Interruption): Promise<Trials> {
        const first = await TestStack.open(stackNames[0]);
        const trials = new Trials(seed, interruption, choices().denied);
        trials.shops.push(new Shop(first));
        try {
            await Promise.all([removeNamespaces(first.cluster, stackNames), removeLimit(first.cluster)]);
            for (const name of stackNames.slice(1, stacks)) trials.shops.push(new Shop(await first.beside(name)));
        } catch (error) {
            await trials.close();
            throw error;
        }
        return trials;
    }

    /** Has the network drop or reject traffic that a NetworkPolicy denies. No trial may run meanwhile. */
    async setDenied(denied: DeniedTraffic): Promise<void> {
        if (denied === this.denied) return;
        this.denied = denied;
        await setDenied(denied);
    }

    /**
     * Does one trial.
     *
     * @param worker which of the stacks it uses, from 0
     */
    async run({ kind, denied, round }: Planned, worker = 0): Promise<Omit<Result, "commit">> {
        const shop = this.shops[worker]!;
        const begun = performance.now();
        const seen = await this.see(shop, kind, denied, round).catch((error: unknown): Seen => {
            shop.forgetShape();
            const problems = [`it could not be done: ${plainError(error)}`];
            return { outcome: "none", reason: "", saw: "", problems, leftovers: [], journals: [] };
        });
        const { journals, ...rest } = seen;
        // The reports of wrong ones explain them.
        if (rest.problems.length === 0) journals.forEach(discardReport);
        const seconds = Math.round((performance.now() - begun) / 100) / 10;
        const expected = describeAllowed(kind.allowed);
        const at = new Date().toISOString();
        return { seed: this.seed, kind: kind.name, network: denied, round, ...rest, expected, seconds, at };
    }

    private async see(shop: Shop, kind: Kind, denied: DeniedTraffic, round: number): Promise<Seen> {
        await shop.prepare(kind.shape);
        return (kind.course ?? complete)(shop, kind, {
            kind: kind.name,
            denied,
            round,
            random: randomOf(`${this.seed}/${kind.name}/${denied}/${round}`),
            ...this.interruption,
            anotherShop: (shape) => this.second(shape),
        });
    }

    private async second(shape: Shape): Promise<Shop> {
        this.shops[1] ??= new Shop(await this.shops[0]!.stack.beside(stackNames[1]));
        await this.shops[1].prepare(shape);
        return this.shops[1];
    }

    /** Removes the stacks, and has the network do what it did before. @throws Error with all that failed */
    async close(): Promise<void> {
        const failures: unknown[] = [];
        const attempt = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error));
        // The first one has the backend.
        for (const shop of this.shops.toReversed()) await attempt(shop.close());
        await attempt(this.setDenied(this.usualDenied));
        if (failures.length > 0) throw new Error(`not everything is put back: ${failures.map(plainError).join("; ")}`);
    }
}
