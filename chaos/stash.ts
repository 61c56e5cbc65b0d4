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
    const { output, urn } = new pulumi.Stash(name, { input: value }, opts);
    const first = (await known(output)) as T | undefined;
    if (first === undefined)
        throw new Error(`the state does not know the stack's ${name} yet: run \`pulumi up\` once without --target`);
    return { first, urn: await known(urn) };
}

const known = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => void output.apply(resolve));

/**
 * The identity that the state keeps under a name, 16 hexadecimal digits: two backends may have stacks of the same name.
 */
export async function identityIn(
    name: string,
    inherited = randomBytes(8).toString("hex"),
    opts?: pulumi.CustomResourceOptions,
): Promise<string> {
    return (await remember(name, inherited, { ...opts, ignoreChanges: ["input"] })).first;
}

/** A stack, as leases name it. @param identity distinguishes it from others of its name */
export const holderOf = (identity: string): string => `${pulumi.getStack()}/${identity}`;
