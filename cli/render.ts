import { permissionsManifest } from "./permissions";
import { permissionsOptions } from "./permissions-options";
import { runWith } from "./program";
import { chartFolder } from "./rendering/chart";
import { manifestsFolder } from "./rendering/manifests";
import { render } from "./rendering/render";
import { renderable, type RenderOptions, renderOptions } from "./render-options";

const help = `Usage: npm run render -- --out DIR [OPTIONS]
       npm run -s render -- --permissions [EXPERIMENT…] [OPTIONS]

Writes the shop as manifests (DIR/${manifestsFolder}) and as a Helm chart (DIR/${chartFolder}),
to install it without Pulumi. The same components create it as in \`pulumi up\`. Needs neither a cluster nor a login.

  --out DIR            The folder to write to
  --variant VARIANT    four or seven. Default: four
  --stack NAME         Use the settings in this stack's file. Default: the settings' defaults
  --set KEY=VALUE      A setting of the shop, such as --set namespace=shop. Can be repeated
  --force              Write to a folder that is not empty: replaces an earlier rendering, but keeps its passwords
  --help               Show this text

With --permissions, prints the Roles and the ClusterRole of a person who runs these saved experiments on the shop, and
undoes them. Each rule says why. Optional ones are in roles of their own, and say what is lost without them.

  EXPERIMENT…          Default: the stack's experiment.name, otherwise hot-deals-blackhole
  --all                All saved experiments that the variant fits
  --stack NAME         Use the settings in this stack's file. Default: local
  --variant, --set     As above, with any setting, such as --set experiment.target=k8s.deployment=orders
  --subject NAME       Add bindings for this user, such as system:serviceaccount:NAMESPACE:NAME. Can be repeated
  --group NAME         Add bindings for this group. Can be repeated

Settings of a rendering:
  ${renderable.join(", ").replaceAll(/(.{80,110}), /g, "$1,\n  ")}

Exit codes: 0 done, 1 an error occurred, 2 wrong argument.`;

async function main({ out, configuration }: RenderOptions): Promise<void> {
    await render(configuration, out);
    const { namespace } = configuration;
    console.log(`Wrote ${out}. Install or update the shop with one of:

  kubectl apply --filename ${out}/${manifestsFolder}
  helm upgrade --install --wait --timeout 5m0s --namespace ${namespace} --create-namespace shop ${out}/${chartFolder}

${out}/${manifestsFolder} contains random passwords: keep *-secret-*.yaml out of version control.
The chart contains no passwords. Its values, such as hosts of an Ingress, are in ${out}/${chartFolder}/values.yaml.`);
}

const args = process.argv.slice(2);
if (args.includes("--permissions"))
    runWith("render", help, permissionsOptions(args), async (options) => {
        process.stdout.write(permissionsManifest(options));
    });
else runWith("render", help, renderOptions(args), main);
