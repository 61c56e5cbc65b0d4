import { versionOf } from "../../components/shop/passwords";
import { yamlOf } from "./files";
import type { KubernetesObject } from "./collect";

const definitions = `{{/* A Secret's passwords: the cluster's, otherwise new ones, the same within an installation. */}}
{{- define "passwords" -}}
{{- $drawn := get .root.Values "drawnPasswords" | default dict -}}
{{- if not (hasKey $drawn .secret) -}}
{{- $there := get (lookup "v1" "Secret" .root.Release.Namespace .secret) "data" | default dict -}}
{{- $data := dict -}}
{{- range .accounts -}}
{{- $_ := set $data . (get $there . | default (randAlphaNum 32 | b64enc)) -}}
{{- end -}}
{{- $_ := set $drawn .secret $data -}}
{{- $_ := set .root.Values "drawnPasswords" $drawn -}}
{{- end -}}
{{- get $drawn .secret | toJson -}}
{{- end -}}

{{/* A hash of a Secret's passwords: new passwords roll all pods that use them. */}}
{{- define "passwordsVersion" -}}
{{- include "passwords" . | sha256sum | trunc 8 -}}
{{- end -}}
`;

/** The passwords of a chart. It contains none: Helm generates them when it installs it, and keeps them in upgrades. */
export class PasswordTemplates {
    /** The named templates that the expressions use. */
    readonly definitions = definitions;
    /** The arguments of the expressions for a Secret, by the version of the passwords in the rendered objects. */
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

    /** The expression for a text that is the version of a Secret's passwords. Undefined for other texts. */
    versionExpression(text: string): string | undefined {
        const secret = this.secrets.get(text);
        return secret && `{{ include "passwordsVersion" ${secret} }}`;
    }
}

const dataOf = ({ data }: KubernetesObject) => data as Record<string, string>;
const versionOfSecret = (secret: KubernetesObject) => versionOf(dataOf(secret));
