import { permissionsOf } from "../chaos/permissions/permissions";
import { rolesManifest } from "../chaos/permissions/roles";
import { rightsOfUpdate } from "../components/cluster/rights";
import { experimentSettings } from "../components/configuration/experiment";
import { planOnShop } from "../experiments/run";
import type { PermissionsOptions } from "./render-options";

/** The roles of a person who runs some experiments on a shop that is installed, and undoes them. */
export function permissionsManifest({ configurations, subjects }: PermissionsOptions): string {
    // No right depends on the context.
    const plans = configurations.map((configuration) => planOnShop(experimentSettings(configuration, { name: "any" })));
    const names = plans.map(({ experiment }) => experiment);
    const name = `chaos-shop-${names.length === 1 ? names[0] : "experiments"}`;
    const { namespace } = configurations[0]!;
    const head = [
        `Runs and undoes ${names.join(", ")} on the shop in namespace ${namespace} by \`pulumi up\`.`,
        "Not for changes of the shop or its agent. See docs/permissions.md.",
    ];
    const rights = permissionsOf(plans, configurations.flatMap(rightsOfUpdate));
    const manifest = rolesManifest(rights, { name, clusterName: `${name}-${namespace}`, subjects });
    return `${head.map((line) => `# ${line}`).join("\n")}\n${manifest}`;
}
