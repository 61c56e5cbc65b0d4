import { yamlOf } from "./files";
import type { KubernetesObject } from "./collect";
import { expressionOf } from "./values";

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
export function ingressTemplate({ spec, ...ingress }: KubernetesObject): string {
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
