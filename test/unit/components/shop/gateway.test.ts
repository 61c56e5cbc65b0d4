import { expect, it } from "vitest";
import { externalAddress } from "../../../../chaos/kinds/checks/service";
import { productsUrl } from "../../../../components/shop/gateway";

const service = (ingress?: { ip?: string; hostname?: string }[], port = 80) => ({
    spec: { ports: [{ port }] },
    status: { loadBalancer: { ingress } },
});

it.each([
    ["an IP address", service([{ ip: "34.90.1.2" }]), "http://34.90.1.2/products"],
    ["an IPv6 address", service([{ ip: "2001:db8::1" }]), "http://[2001:db8::1]/products"],
    [
        "a host name, as some clouds give",
        service([{ hostname: "a1b2.elb.eu-central-1.amazonaws.com" }]),
        "http://a1b2.elb.eu-central-1.amazonaws.com/products",
    ],
    ["another port", service([{ ip: "34.90.1.2" }], 8080), "http://34.90.1.2:8080/products"],
])("a load balancer is reached by %s", (_what, found, url) => expect(productsUrl(externalAddress(found)!)).toBe(url));

it("a load balancer that has neither yet has no address", () => {
    expect(externalAddress(service())).toBeUndefined();
    expect(externalAddress(service([]))).toBeUndefined();
});
