import { permissionsManifest } from "./permissions";
import { renderProgram } from "./programs";
import { chartFolder } from "./rendering/chart";
import { manifestsFolder, render } from "./rendering/render";
import { type RenderOptions, renderOptions } from "./render-options";

async function write({ out, configuration }: RenderOptions): Promise<void> {
    await render(configuration, out);
    const { namespace } = configuration;
    console.log(`Wrote ${out}. Install or update the shop with one of:

  kubectl apply --filename ${out}/${manifestsFolder}
  helm upgrade --install --wait --timeout 5m0s --namespace ${namespace} --create-namespace shop ${out}/${chartFolder}

${out}/${manifestsFolder} contains random passwords: keep *-secret-*.yaml out of version control.
The chart contains no passwords. Its values, such as hosts of an Ingress, are in ${out}/${chartFolder}/values.yaml.`);
}

renderProgram.run(renderOptions, async (options) => {
    if ("out" in options) await write(options);
    else process.stdout.write(permissionsManifest(options));
});
