import { createHash } from "node:crypto";
import { version as shopVersion } from "../../package.json";
import type { StackConfiguration } from "../../components/configuration/read";
import { placement } from "../../components/base/placement";
import { Shop, type ShopArgs } from "../../components/shop/shop";
import { fileNameOf, objectsOf, type RenderedFile, yamlOf } from "./objects";
import type { ManifestObject } from "../../components/manifest/read";
import { ingressTemplate, PasswordTemplates } from "./chart-templates";
import { expressionOf, valuesFile, valuesSchema } from "./chart-values";

export const chartFolder = "chart";

/**
 * The shop as a chart for `helm upgrade --install --wait`. The same components create it: they receive the chart's
 * template expressions as arguments, for its values and the release's namespace.
 */
export async function renderChart(configuration: StackConfiguration): Promise<RenderedFile[]> {
    const args: ShopArgs = {
        ...configuration,
        namespace: "{{ .Release.Namespace }}",
        images: {
            node: expressionOf("images.node"),
            postgres: expressionOf("images.postgres"),
            nats: expressionOf("images.nats"),
        },
        gateway: { serviceType: expressionOf<"LoadBalancer">("gateway.serviceType") },
        ingress: {
            hosts: [expressionOf("ingress.hosts")],
            class: expressionOf("ingress.class"),
            tlsSecret: expressionOf("ingress.tlsSecret"),
        },
    };
    const objects = (
        await objectsOf(() => new Shop("shop", args, { transformations: placement(configuration.placement) }))
    ).filter(({ kind }) => kind !== "Namespace");
    const passwords = new PasswordTemplates(objects);
    const files: RenderedFile[] = [
        { path: "values.yaml", text: valuesFile(configuration) },
        { path: "values.schema.json", text: `${JSON.stringify(valuesSchema, undefined, 2)}\n` },
        { path: "templates/_passwords.tpl", text: passwords.definitions },
        ...objects.map((object) => ({
            path: `${chartOf(object)}templates/${fileNameOf(object)}`,
            text: templateOf(object, passwords),
        })),
    ];
    // A changed chart has another version.
    const version = `${shopVersion}+${hashOf(files)}`;
    const aboutChart = (folder: string, about: { name: string; description: string; dependencies?: object[] }) => ({
        path: `${folder}Chart.yaml`,
        text: yamlOf({ ...about, apiVersion: "v2", type: "application", version, appVersion: shopVersion }),
    });
    const dependencies = [{ name: "programs", version }];
    files.push(
        aboutChart("", { name: "chaos-shop", description: "A demo shop to run chaos experiments on", dependencies }),
        aboutChart(programsChart, { name: "programs", description: "The programs of the demo shop" }),
    );
    return files.map(({ path, text }) => ({ path: `${chartFolder}/${path}`, text }));
}

/**
 * Helm stores each release in a Secret, which holds 1 MiB: the rendered objects and the chart, but not its subcharts.
 * With the programs in the chart itself it would contain them twice, which is too large.
 */
const programsChart = "charts/programs/";
const chartOf = (object: ManifestObject) => ("binaryData" in object ? programsChart : "");

function hashOf(files: readonly RenderedFile[]): string {
    const hash = createHash("sha256");
    for (const { path, text } of files) hash.update(`${path}\n${text}\n`);
    return hash.digest("hex").slice(0, 8);
}

function templateOf(object: ManifestObject, passwords: PasswordTemplates): string {
    switch (object.kind) {
        case "Secret":
            return passwords.secretTemplate(object);
        case "Ingress":
            return ingressTemplate(object);
        default:
            return yamlOf(
                JSON.parse(JSON.stringify(object), (_, value: unknown) =>
                    typeof value === "string" ? asTemplate(value, passwords) : value,
                ),
            );
    }
}

/** Escapes a text for Helm, unless it is one of this chart's own expressions. */
const asTemplate = (text: string, passwords: PasswordTemplates): string =>
    passwords.versionExpression(text) ??
    (/^\{\{ \.(?:Values|Release)\.[\w.]+ \}\}$/.test(text) ? text : text.replaceAll("{{", '{{ "{{" }}'));
