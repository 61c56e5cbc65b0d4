import { runWith } from "./program";
import { chartFolder } from "./rendering/chart";
import { manifestsFolder } from "./rendering/manifests";
import { render } from "./rendering/render";
import { renderable, type RenderOptions, renderOptions } from "./render-options";

const help = `Usage: npm run render -- --out DIR [OPTIONS]

Writes the shop as manifests (DIR/${manifestsFolder}) and as a Helm chart (DIR/${chartFolder}),
to install it without Pulumi. The same components create it as in \`pulumi up\`. Needs neither a cluster nor a login.

  --out DIR            The folder to write to
  --variant VARIANT    four or seven. Default: four
  --stack NAME         Use the settings in this stack's file. Default: the settings' defaults
  --set KEY=VALUE      A setting of the shop, such as --set namespace=shop. Can be repeated
  --force              Write to a folder that is not empty: replaces an earlier rendering, but keeps its passwords
  --help               Show this text

Settings:
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

runWith("render", help, renderOptions(process.argv.slice(2)), main);
