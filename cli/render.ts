import { chartFolder } from "./rendering/chart";
import { manifestsFolder } from "./rendering/manifests";
import { render } from "./rendering/render";
import { renderable, type RenderOptions, renderOptions } from "./renderOptions";

const help = `npm run render -- --out DIR [OPTION...]: the shop for people who use neither Pulumi nor this program.

Writes it as manifests (DIR/${manifestsFolder}) and as a chart (DIR/${chartFolder}), made by the components that \`pulumi up\` makes it by. Neither
a cluster nor a login is needed.

  --out DIR            where it goes
  --variant VARIANT    four or seven
  --stack NAME         with the settings of that stack's file; what is not set has its default
  --set KEY=VALUE      a setting of the shop, such as --set namespace=shop; may be repeated
  --force              DIR need not be empty: an earlier rendering in it is replaced, its passwords kept

Settings: ${renderable.join(", ")}

Exit code: 0, 1 it could not be rendered, 2 a wrong argument.`;

async function main({ out, configuration }: RenderOptions): Promise<void> {
    await render(configuration, out);
    const { namespace } = configuration;
    console.log(`Rendered into ${out}. Put it into the cluster by one of these, each as often as you like:

  kubectl apply --filename ${out}/${manifestsFolder}
  helm upgrade --install --wait --timeout 5m0s --namespace ${namespace} --create-namespace shop ${out}/${chartFolder}

The database's passwords are in ${out}/${manifestsFolder}, drawn for this rendering: leave *-secret-*.yaml out of version control. The
chart holds none. Its values, the hosts of an Ingress among them, are in ${out}/${chartFolder}/values.yaml.`);
}

const options = renderOptions(process.argv.slice(2));
if ("help" in options) console.log(help);
else if ("mistake" in options) {
    console.error(`${options.mistake}\nSee: npm run render -- --help`);
    process.exitCode = 2;
} else {
    main(options).catch((error: Error) => {
        console.error(error.message);
        process.exitCode = 1;
    });
}
