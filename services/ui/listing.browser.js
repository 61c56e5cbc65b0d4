// What the gateway's response at /products says about the listing, for the page and for what it announces.

/** Each department by its category: its name, and the listing's member that says where its list is from. */
const DEPARTMENTS = {
    FASHION: { name: "Fashion", source: "statusFashion" },
    TOYS: { name: "Toys", source: "statusToys" },
    HOT_DEALS: { name: "Hot deals", source: "statusHotDeals" },
};

export const nameOf = (category) => DEPARTMENTS[category].name;

/** The departments whose list is a fallback's, which is empty, each with the reason. Status 200 does not show them. */
export function missingFrom(listing) {
    return Object.values(DEPARTMENTS)
        .map(({ name, source }) => ({ name, why: listing[source] }))
        .filter(({ why }) => why !== "REMOTE_SERVICE")
        .map(({ name, why = "unknown" }) => ({ name, why: why.toLowerCase().replaceAll("_", " ") }));
}

/** The listing's state for style sheets, a word or two for its title, and a sentence below it. */
export function describeListing({ ok, status, detail, duration, missing }) {
    if (!status) return { state: "down", word: "does not answer", detail };
    if (!ok) {
        const why = `${detail} A failed department without a fallback fails the whole listing.`;
        return { state: "down", word: `fails with ${status}`, detail: why };
    }
    if (missing.length === 0)
        return { state: "up", word: "is complete", detail: `All three departments answered within ${duration} ms.` };
    const named = missing.map(({ name, why }) => `${name} (${why})`).join(", ");
    return {
        state: "partial",
        word: "is incomplete",
        detail: `Missing: ${named}. An empty list is the fallback. The listing took ${duration} ms.`,
    };
}
