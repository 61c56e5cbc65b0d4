interface Answer {
    status: number;
    /** The listing, as JSON. */
    body: Record<string, unknown>;
}

/** The members of a listing that show how a failure of hot-deals was handled. */
export const partsOf = ({ status, body }: Answer) => [
    status,
    body.statusFashion,
    body.statusToys,
    body.statusHotDeals,
    body.hotDealsResponse,
];

/** These members if the listing has the other backends' products, and hot-deals marked with the reason. */
export const marked = (why: string) => [
    200,
    "REMOTE_SERVICE",
    "REMOTE_SERVICE",
    why,
    { responseType: "FALLBACK", products: [] },
];
