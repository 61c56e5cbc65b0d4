import { versionOf } from "../../components/shop/passwords";
import { yamlOf } from "./objects";
import type { ManifestObject } from "../../components/manifest/read";
import { expressionOf } from "./chart-values";

interface IngressSpec {
    ingressClassName: string;
    tls: { hosts: string[]; secretName: string }[];
    rules: { host: string; http: unknown }[];
}

/**
 * The template of an Ingress for all hosts in the chart's values.
 *
 * @param ingress has the chart's expressions as its host, class and TLS secret
 * @throws Error if it has a field that the template does not know
 */
export function ingressTemplate({ spec, ...ingress }: ManifestObject): string {
    const { ingressClassName, tls, rules, ...others } = spec as IngressSpec;
    const [[secret], [rule]] = [tls, rules];
    const unknown = [
        ...Object.keys(others),
        ...Object.keys(secret!).filter((part) => part !== "hosts" && part !== "secretName"),
    ];
    if (unknown.length > 0)
        throw new Error(`the chart's Ingress would lose ${unknown.join(", ")}: its template does not know them`);
    return [
        "{{- if .Values.ingress.hosts }}",
        yamlOf(ingress).trimEnd(),
        // Part of metadata, the last field before spec.
        "  {{- with .Values.ingress.annotations }}",
        "  annotations: {{ . | toJson }}",
        "  {{- end }}",
        "spec:",
        "  {{- with .Values.ingress.class }}",
        `  ingressClassName: ${quoted(ingressClassName, "ingress.class")}`,
        "  {{- end }}",
        "  {{- with .Values.ingress.tlsSecret }}",
        "  tls:",
        "    - hosts: {{ $.Values.ingress.hosts | toJson }}",
        `      secretName: ${quoted(secret!.secretName, "ingress.tlsSecret")}`,
        "  {{- end }}",
        "  rules:",
        "    {{- range .Values.ingress.hosts }}",
        indented(yamlOf([{ ...rule, host: "HOST" }]), 4).replace("HOST", "{{ . | quote }}"),
        "    {{- end }}",
        "{{- end }}",
        "",
    ].join("\n");
}

/** The value of the enclosing `with`. @throws Error if the Ingress has another value */
function quoted(found: string, key: "ingress.class" | "ingress.tlsSecret"): string {
    if (found !== expressionOf(key)) throw new Error(`the chart's Ingress has "${found}" instead of ${key}`);
    return "{{ . | quote }}";
}

const indented = (text: string, by: number) =>
    text
        .trimEnd()
        .split("\n")
        .map((line) => " ".repeat(by) + line)
        .join("\n");

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

    constructor(objects: readonly ManifestObject[]) {
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

    secretTemplate(secret: ManifestObject): string {
        const { data: _, ...rest } = secret;
        return `${yamlOf(rest)}data: {{ include "passwords" ${this.secrets.get(versionOfSecret(secret))} }}\n`;
    }

    /** The expression for a text that is the version of a Secret's passwords. Undefined for other texts. */
    versionExpression(text: string): string | undefined {
        const secret = this.secrets.get(text);
        return secret && `{{ include "passwordsVersion" ${secret} }}`;
    }
}

const dataOf = ({ data }: ManifestObject) => data as Record<string, string>;
const versionOfSecret = (secret: ManifestObject) => versionOf(dataOf(secret));
