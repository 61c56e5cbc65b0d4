import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { randomBytes } from "node:crypto";
import { shortHash } from "../base/program";

/** How a client logs in to the database or the broker as one account. */
export interface Access {
    /** Where the server is, the account, and the file with its password. */
    env: kx.types.EnvMap;
    mount: pulumi.Input<kx.types.VolumeMount>;
}

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
        const encoded = () => Buffer.from(randomBytes(24).toString("base64url")).toString("base64");
        // A preview has none: the update of a plan that it has saved would have to have the same.
        const passwords = pulumi.runtime.isDryRun()
            ? (pulumi.unknown as never)
            : Object.fromEntries(accounts.map((account) => [account, encoded()]));
        super(
            name,
            // Not `stringData`, of which the provider makes `data`: the plan would not have that.
            { metadata: { name, namespace }, data: pulumi.secret(passwords) },
            { ...opts, ignoreChanges: ["stringData", "data"] },
        );
        this.version = pulumi.unsecret(this.data.apply(versionOf));
    }

    /**
     * Mounts passwords as files with the accounts' names. In the environment they would be inherited by every process,
     * and shown by tools that show it.
     */
    mountOf(accounts: readonly string[], destPath: string): pulumi.Output<kx.types.VolumeMount> {
        return this.metadata.name.apply((secretName) => ({
            volume: {
                name: secretName,
                secret: {
                    secretName,
                    items: accounts.map((account) => ({ key: account, path: account })),
                    // For the user of the pod, which is its fsGroup.
                    defaultMode: 0o440,
                },
            },
            destPath,
        }));
    }
}

export function versionOf(data: Record<string, string> = {}): string {
    return shortHash(JSON.stringify(data));
}
