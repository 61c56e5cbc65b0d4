import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { randomBytes } from "node:crypto";
import { shortHash } from "../program/program";

/**
 * A Secret with a password for each account. They are drawn once: what later updates draw is ignored as long as the
 * stack has the Secret. Drawn here, and not by a resource of their own, they have the database begin a second earlier.
 */
export class Passwords extends kx.Secret {
    /**
     * Tells these passwords from others, and nothing of them. Goes into the environment of whoever uses them, so that
     * new passwords roll all of its pods together.
     */
    readonly version: pulumi.Output<string>;

    constructor(
        name: string,
        accounts: readonly string[],
        namespace: pulumi.Input<string>,
        opts?: pulumi.CustomResourceOptions,
    ) {
        // A letter first: NATS reads a variable as if it stood in its configuration, where a digit begins a number.
        const drawn = Object.fromEntries(
            accounts.map((account) => [account, `p${randomBytes(24).toString("base64url")}`]),
        );
        super(
            name,
            { metadata: { name, namespace }, stringData: pulumi.secret(drawn) },
            { ...opts, ignoreChanges: ["stringData", "data"] },
        );
        this.version = pulumi.unsecret(this.data.apply(versionOf));
    }
}

/** The version of what a Secret holds; see `Passwords`. */
export function versionOf(data: Record<string, string> = {}): string {
    return shortHash(JSON.stringify(data));
}
