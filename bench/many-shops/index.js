// Creates as many shops as the stack's setting `shops` says, each in its own namespace, with the project's component.
const k8s = require("@pulumi/kubernetes");
const pulumi = require("@pulumi/pulumi");
const { settings } = require("../../components/configuration/settings.ts");
const { Shop } = require("../../components/shop/shop.ts");

const config = new pulumi.Config();
const images = {
    node: settings["images.node"].default,
    postgres: settings["images.postgres"].default,
    nats: settings["images.nats"].default,
};
const provider = new k8s.Provider("cluster", { context: config.require("context") });
for (let number = 1; number <= config.requireNumber("shops"); number++) {
    // Resources of the same name need parents of different types.
    const parent = new pulumi.ComponentResource(`many-shops:index:Shop${number}`, `shop-${number}`, {}, { provider });
    new Shop("shop", { namespace: `bench-shop-${number}`, images }, { parent });
}
