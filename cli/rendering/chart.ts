import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StackConfiguration } from "../../components/configuration/read";
import { shopArgsOf } from "../../components/install/install";
import { placement } from "../../components/program/placement";
import { Shop, type ShopArgs } from "../../components/shop/shop";
import { fileNameOf, type RenderedFile, yamlOf } from "./files";
import { ingressTemplate } from "./ingressTemplate";
import { type KubernetesObject, objectsOf } from "./objects";
import { PasswordTemplates } from "./passwordTemplates";
import { expressionOf, valuesFile, valuesSchema } from "./values";

const project = JSON.parse(readFileSync(join(__dirname, "..", "..", "package.json"), "utf8")) as { version: string };

/** Where the chart is in a rendering. */
export const chartFolder = "chart";

/**
 * The shop as a chart that `helm upgrade --install --wait` takes. It is made by the same components, which are handed the
 * chart's expressions where a value of the chart, or the release's namespace, goes.
 */
export async function renderChart(configuration: StackConfiguration): Promise<RenderedFile[]> {
    const args: ShopArgs = {
        ...shopArgsOf(configuration),
        namespace: "{{ .Release.Namespace }}",
        images: {
            node: expressionOf("images.node"),
            postgres: expressionOf("images.postgres"),
            nats: expressionOf("images.nats"),
        },
        gatewayServiceType: expressionOf("gateway.serviceType") as ShopArgs["gatewayServiceType"],
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
    // Who installs the newest must see by its version that it is another one.
    const version = `${project.version}+${hashOf(files)}`;
    const about = { apiVersion: "v2", type: "application", version, appVersion: project.version };
    const dependencies = [{ name: "programs", version }];
    files.push({
        path: "Chart.yaml",
        text: yamlOf({
            name: "chaos-shop",
            description: "A demo shop to run chaos experiments on",
            ...about,
            dependencies,
        }),
    });
    files.push({
        path: `${programsChart}Chart.yaml`,
        text: yamlOf({ name: "programs", description: "The programs of the demo shop", ...about }),
    });
    return files.map(({ path, text }) => ({ path: `${chartFolder}/${path}`, text }));
}

/**
 * Helm keeps a record of each release in a Secret, which holds 1 MiB: what was made, and a copy of the chart, but not of
 * the charts in it. Twice the shop's programs would be too much.
 */
const programsChart = "charts/programs/";
const chartOf = (object: KubernetesObject) => ("binaryData" in object ? programsChart : "");

function hashOf(files: readonly RenderedFile[]): string {
    const hash = createHash("sha256");
    for (const { path, text } of files) hash.update(`${path}\n${text}\n`);
    return hash.digest("hex").slice(0, 8);
}

function templateOf(object: KubernetesObject, passwords: PasswordTemplates): string {
    switch (object.kind) {
        case "Secret":
            return passwords.secretTemplate(object);
        case "Ingress":
            return ingressTemplate(object);
        default:
            return yamlOf(asTemplate(object, passwords));
    }
}

/** The same with every text in it as Helm reads it: an expression of ours as it is, anything else word for word. */
function asTemplate(value: unknown, passwords: PasswordTemplates): unknown {
    if (typeof value === "string")
        return (
            passwords.versionExpression(value) ??
            (/^\{\{ \.(?:Values|Release)\.[\w.]+ \}\}$/.test(value) ? value : value.replaceAll("{{", '{{ "{{" }}'))
        );
    if (Array.isArray(value)) return value.map((inner) => asTemplate(inner, passwords));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asTemplate(inner, passwords)]));
}
