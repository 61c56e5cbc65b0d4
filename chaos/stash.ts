import * as pulumi from "@pulumi/pulumi";
import { randomBytes } from "node:crypto";

/**
 * Keeps a value in the stack's state: the first one that it was given, until the resource is replaced. The engine
 * answers from the state, in previews too, so a program knows the value before it creates anything in a cluster.
 *
 * @throws Error if an update with `--target` leaves the resource out that is not in the state yet
 */
export async function remember<T>(
    name: string,
    value: T,
    opts?: pulumi.CustomResourceOptions,
): Promise<{ first: T; urn: string }> {
    const { first, urn } = await rememberIfTargeted(name, value, opts);
    if (first === undefined) throw notKept(name);
    return { first, urn };
}

async function rememberIfTargeted<T>(name: string, value: T, opts?: pulumi.CustomResourceOptions) {
    const { output, urn } = new pulumi.Stash(name, { input: value }, opts);
    const [[first], [ofStash]] = await Promise.all([ifKnown(output), ifKnown(urn)]);
    return { first: first as T | undefined, urn: ofStash! };
}

export const notKept = (name: string) =>
    new Error(`the state does not know the stack's ${name} yet: update the stack once without --target`);

/** What an output has, in a list that is empty if a preview does not know it. */
export async function ifKnown<T>(output: pulumi.Output<T>): Promise<[] | [T]> {
    // Undocumented, but in use by Pulumi's own packages: `apply` says nothing about what is not known yet.
    if (!(await (output as pulumi.Output<T> & { isKnown: Promise<boolean> }).isKnown)) return [];
    return new Promise((resolve) => void output.apply((value) => resolve([value])));
}

const newIdentity = () => randomBytes(8).toString("hex");
const kept = (opts?: pulumi.CustomResourceOptions) => ({ ...opts, ignoreChanges: ["input"] });

/**
 * The identity that the state keeps under a name, 16 hexadecimal digits: two backends may have stacks of the same name.
 *
 * @throws Error as `remember`
 */
export async function identityIn(name: string): Promise<string> {
    return (await remember(name, newIdentity(), kept())).first;
}

/** As `identityIn`. Undefined instead of an error: nothing has run yet under an identity that the state has not. */
export async function identityIfKept(name: string, opts?: pulumi.CustomResourceOptions): Promise<string | undefined> {
    return (await rememberIfTargeted(name, newIdentity(), kept(opts))).first;
}

/** A stack, as leases name it. @param identity distinguishes it from others of its name */
export const holderOf = (identity: string): string => `${pulumi.getStack()}/${identity}`;
