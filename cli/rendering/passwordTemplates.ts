import { versionOf } from "../../components/shop/passwords";
import { yamlOf } from "./files";
import type { KubernetesObject } from "./objects";

const definitions = `{{/* The passwords of a Secret: those that the cluster has, else new ones; the same for all that ask in one installation. */}}
{{- define "passwords" -}}
{{- $drawn := get .root.Values "drawnPasswords" | default dict -}}
{{- if not (hasKey $drawn .secret) -}}
{{- $there := get (lookup "v1" "Secret" .root.Release.Namespace .secret) "data" | default dict -}}
{{- $data := dict -}}
{{- range .accounts -}}
{{- $_ := set $data . (get $there . | default (randAlphaNum 32 | printf "p%s" | b64enc)) -}}
{{- end -}}
{{- $_ := set $drawn .secret $data -}}
{{- $_ := set .root.Values "drawnPasswords" $drawn -}}
{{- end -}}
{{- get $drawn .secret | toJson -}}
{{- end -}}

{{/* Tells the passwords of a Secret from others: new ones roll all pods that use them. */}}
{{- define "passwordsVersion" -}}
{{- include "passwords" . | sha256sum | trunc 8 -}}
{{- end -}}
`;

/**
 * The passwords of a chart. None is in it: they are drawn when it is installed, and those that the cluster has stay when
 * it is upgraded.
 */
export class PasswordTemplates {
    /** What the expressions of the chart's templates rest on. */
    readonly definitions = definitions;
    /** What the expressions are told of a Secret, by the version of what was drawn for it here. */
    private readonly secrets: ReadonlyMap<string, string>;

    constructor(objects: readonly KubernetesObject[]) {
        this.secrets = new Map(
            objects
                .filter(({ kind }) => kind === "Secret")
                .map((secret) => {
                    const accounts = Object.keys(dataOf(secret))
                        .sort()
                        .map((account) => `"${account}"`);
                    return [
                        versionOfSecret(secret),
                        `(dict "root" $ "secret" "${secret.metadata.name}" "accounts" (list ${accounts.join(" ")}))`,
                    ];
                }),
        );
    }

    /** A Secret with its passwords. */
    secretTemplate(secret: KubernetesObject): string {
        const { data: _, ...rest } = secret;
        return `${yamlOf(rest)}data: {{ include "passwords" ${this.secrets.get(versionOfSecret(secret))} }}\n`;
    }

    /** What stands for a text that is the version of a Secret's passwords; undefined for any other. */
    versionExpression(text: string): string | undefined {
        const secret = this.secrets.get(text);
        return secret && `{{ include "passwordsVersion" ${secret} }}`;
    }
}

const dataOf = ({ data }: KubernetesObject) => data as Record<string, string>;
const versionOfSecret = (secret: KubernetesObject) => versionOf(dataOf(secret));
