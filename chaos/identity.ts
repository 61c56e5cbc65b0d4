import * as pulumi from "@pulumi/pulumi";
import { randomBytes } from "node:crypto";
import { remember } from "./stash";

/**
 * The identity that the state keeps under a name, 16 hexadecimal digits: two backends may have stacks of the same name.
 *
 * @param inherited the identity, if the state has none yet
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
