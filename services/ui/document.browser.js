// Functions for the document, and for asking the gateway, that the page's other files share.

export const byId = (id) => document.getElementById(id);

/** Writes only changed text, to keep selections and a screen reader's position. */
export const write = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
};

/** A new element from the template with this id. */
export const fromTemplate = (id) => byId(id).content.cloneNode(true).firstElementChild;

/** Changes an element. If the focused child is removed, moves the focus to another element instead of losing it. */
export const keepingFocus = (element, other, change) => {
    const hadIt = element.contains(document.activeElement);
    change(element);
    if (hadIt && !element.contains(document.activeElement)) other.focus();
};

/** Writes texts into parts of an element, by their selectors. */
export const fill = (element, texts) => {
    for (const [selector, text] of Object.entries(texts)) write(element.querySelector(selector), text);
};

/** Asks the gateway. Rejects without an answer in JSON within the limit. */
export const ask = async (path, timeoutMs, request = { cache: "no-store" }) => {
    const response = await fetch(path, { ...request, signal: AbortSignal.timeout(timeoutMs) });
    return { ok: response.ok, status: response.status, answer: await response.json() };
};
