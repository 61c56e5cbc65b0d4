const departments = ["fashion-bestseller", "toys-bestseller", "hot-deals"] as const;

/** The workloads that connect to each workload, besides the kubelet. Both variants have the same list. */
export const callers: Record<string, readonly string[] | "everybody"> = {
    // By its Service, through an Ingress, or through the API server's proxy.
    gateway: "everybody",
    ...Object.fromEntries(departments.map((name) => [name, ["gateway"]])),
    database: [...departments, "orders", "inventory"],
    orders: ["gateway"],
    inventory: [],
    "message-broker": ["orders", "inventory"],
};

/** Each workload with each that it calls, for reports. */
export const shopCalls = Object.entries(callers).flatMap(([callee, those]) =>
    those === "everybody" ? [] : those.map((caller) => [caller, callee] as const),
);
