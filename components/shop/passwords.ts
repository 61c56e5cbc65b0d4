import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { randomBytes } from "node:crypto";
import { shortHash } from "../base/program";

/**
 * A Secret with a random password per account. Later updates keep the stack's passwords: they ignore changes of the
 * data. Without a separate resource for random passwords, the database starts a second earlier.
 */
export class Passwords extends kx.Secret {
    /**
     * A hash of the passwords for the environment of the pods that use them: new passwords roll these pods together.
     */
    readonly version: pulumi.Output<string>;

    constructor(
        name: string,
        accounts: readonly string[],
        namespace: pulumi.Input<string>,
        opts?: pulumi.CustomResourceOptions,
    ) {
        // They start with a letter: in NATS's configuration, a variable that starts with a digit is a number.
        const passwords = Object.fromEntries(
            accounts.map((account) => [account, `p${randomBytes(24).toString("base64url")}`]),
        );
        super(
            name,
            { metadata: { name, namespace }, stringData: pulumi.secret(passwords) },
            { ...opts, ignoreChanges: ["stringData", "data"] },
        );
        this.version = pulumi.unsecret(this.data.apply(versionOf));
    }
}

/** See `Passwords.version`. */
export function versionOf(data: Record<string, string> = {}): string {
    return shortHash(JSON.stringify(data));
}
