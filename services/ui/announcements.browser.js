// Which changes of the page are announced to a screen reader, and when. Under an attack the page changes every second:
// to read all of that aloud would leave no time to listen to anything else.

/** Between two announcements of how listing and departments are. Attacks are announced at once. */
const PAUSE_MS = 10_000;
/** What changes at least so often within this time is up and down "now and then". One outage is two changes. */
const RESTLESS = { changes: 3, withinMs: 30_000 };

/**
 * Returns a function that takes what the page shows at a moment, and returns the sentences to announce, if any. The
 * first state is not announced: it can be read on the page.
 */
export function createAnnouncer() {
    const histories = new Map();
    let announcedAttacks;
    let announcedCalls = { text: undefined, at: -Infinity };
    let announced = { text: undefined, at: -Infinity };
    let latest = { text: undefined, since: 0 };

    const attackNews = (attacks) => {
        if (attacks === null) return "";
        const now = attacks.length === 0 ? "The attack has ended." : `Under attack: ${attacks.join("; ")}.`;
        const isNews = announcedAttacks !== undefined && now !== announcedAttacks;
        // To a page that was opened without an attack, none has ended.
        announcedAttacks = now;
        return isNews ? now : "";
    };

    const callNews = (calls, at) => {
        if (!calls || at - announcedCalls.at < PAUSE_MS) return "";
        const isNews = announcedCalls.text !== undefined && calls !== announcedCalls.text;
        announcedCalls = { text: calls, at: isNews ? at : announcedCalls.at };
        return isNews ? calls : "";
    };

    const stateNews = (shown, at) => {
        const { text, fits } = inWords(shown, (name, state) => historyWith(histories, { name, state, at }));
        if (text !== latest.text) latest = { text, since: at };
        if (announced.text === undefined) announced = { text, at: -Infinity };
        if (text === announced.text || at - announced.at < PAUSE_MS) return "";
        // Two requests made this text, and may have seen different moments: then the next ones agree.
        if (!fits && at - latest.since < PAUSE_MS) return "";
        announced = { text, at };
        return text;
    };

    return (shown, at) =>
        [attackNews(shown.attacks), stateNews(shown, at), callNews(shown.calls, at)]
            .filter((news) => news !== "")
            .join(" ");
}

/** The states that something had lately, the last one included. A state that lasts is one entry. */
function historyWith(histories, { name, state, at }) {
    const before = histories.get(name) ?? [];
    const all = before.at(-1)?.state === state ? before : [...before, { state, at }];
    // The first entry is what the first change left: it stays as long as that change counts.
    const changed = all.slice(1).findIndex((entry) => at - entry.at <= RESTLESS.withinMs);
    const recent = changed < 0 ? all.slice(-1) : all.slice(changed);
    histories.set(name, recent);
    return recent.map((entry) => entry.state);
}

const isRestless = (history) => history.length > RESTLESS.changes;

/** The state in two sentences, and whether they can be true of the same moment. */
function inWords({ listing, departments }, historyOf) {
    if (!listing.status) return { text: listing.detail, fits: true };
    const known = departments.filter(({ status }) => status !== "UNKNOWN");
    if (known.length < departments.length)
        return { text: `${listingSentence(listing, [])} The state of the departments is unknown.`, fits: true };
    const histories = known.map(({ name, status }) => ({ name, status, history: historyOf(name, status) }));
    const restless = histories.filter(({ history }) => isRestless(history));
    const down = histories.filter((one) => one.status === "DOWN" && !restless.includes(one));
    const parts = [
        ...(down.length > 0 ? [`Down: ${namesOf(down)}.`] : []),
        ...(restless.length > 0 ? [`Down now and then: ${namesOf(restless)}.`] : []),
    ];
    const history = historyOf("/products", listing.state);
    const isWhole = listing.state === "up" && !isRestless(history);
    return {
        text: [listingSentence(listing, history), ...(parts.length > 0 ? parts : ["All departments are up."])].join(
            " ",
        ),
        fits: isWhole ? down.length === 0 : parts.length > 0,
    };
}

function listingSentence({ state, missing }, history) {
    if (isRestless(history)) return `The listing ${history.includes("down") ? "fails" : "is incomplete"} now and then.`;
    if (state === "partial") return `The listing is incomplete, without ${namesOf(missing)}.`;
    return `The listing ${state === "up" ? "is complete" : "fails"}.`;
}

const namesOf = (those) => those.map(({ name }) => name).join(", ");
