import { removeNamespaces } from "../../bench/on-cluster";
import { plainError } from "../../chaos/cli/plain-error";
import { isDeepStrictEqual } from "node:util";
import { type Choices, choices, type DeniedTraffic } from "../../sandbox/node/choices";
import { sandboxUp } from "../../sandbox/node/up";
import { TestStack } from "../e2e/shop/support";
import { uncordonAll } from "../support/placement";
import { complete } from "./complete";
import { describeAllowed } from "./judge";
import type { Kind, Seen } from "./kind";
import { describePlace, type Place, placeNow } from "./place";
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

export interface TrialsArgs {
    seed: string;
    place: Place;
    /** What the network does first with traffic that a NetworkPolicy denies. */
    denied: DeniedTraffic;
    /** How many trials are done at a time. */
    stacks: number;
    interruption: Interruption;
}

async function change(wanted: Choices): Promise<void> {
    if (!isDeepStrictEqual(wanted, choices())) await sandboxUp(wanted);
}

/** Does trials on the sandbox. Shops are kept from trial to trial. */
export class Trials {
    private readonly shops: Shop[] = [];
    private readonly before = choices();

    private constructor(private readonly args: TrialsArgs) {}

    /** Starts the sandbox, opens the stacks, and removes what a killed program has left of them. */
    static async open(args: TrialsArgs): Promise<Trials> {
        const trials = new Trials(args);
        try {
            await sandboxUp({ ...args.place, ipFamilies: "ipv4", denied: args.denied });
            await uncordonAll();
            const first = await TestStack.open(stackNames[0]);
            trials.shops.push(new Shop(first));
            await Promise.all([removeNamespaces(first.cluster, stackNames), removeLimit(first.cluster)]);
            for (const name of stackNames.slice(1, args.stacks)) trials.shops.push(new Shop(await first.beside(name)));
        } catch (error) {
            await trials.close();
            throw error;
        }
        return trials;
    }

    /** Has the network drop or reject traffic that a NetworkPolicy denies. No trial may run meanwhile. */
    setDenied(denied: DeniedTraffic): Promise<void> {
        return change({ ...choices(), denied });
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
        const { seed, place } = this.args;
        return { seed, kind: kind.name, ...place, denied, round, ...rest, expected, seconds, at };
    }

    private async see(shop: Shop, kind: Kind, denied: DeniedTraffic, round: number): Promise<Seen> {
        await shop.prepare(kind.shape);
        if (kind.renewed) await shop.renew();
        return (kind.course ?? complete)(shop, kind, {
            kind: kind.name,
            denied,
            round,
            random: randomOf(`${this.args.seed}/${kind.name}/${denied}/${round}`),
            ...this.args.interruption,
            anotherShop: (shape) => this.second(shape),
        });
    }

    private async second(shape: Shape): Promise<Shop> {
        this.shops[1] ??= new Shop(await this.shops[0]!.stack.beside(stackNames[1]));
        await this.shops[1].prepare(shape);
        return this.shops[1];
    }

    /** Removes the stacks, and has the sandbox be what it was before. @throws Error with all that failed */
    async close(): Promise<void> {
        const failures: unknown[] = [];
        const attempt = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error));
        // The first one has the backend.
        for (const shop of this.shops.toReversed()) await attempt(shop.close());
        const [first] = this.shops;
        // Of a node that is taken away, no pod would ever end.
        if (first && describePlace(placeNow()) !== describePlace(this.before))
            await attempt(removeNamespaces(first.stack.cluster, stackNames));
        await attempt(change(this.before));
        if (failures.length > 0) throw new Error(`not everything is put back: ${failures.map(plainError).join("; ")}`);
    }
}
