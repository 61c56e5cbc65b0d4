// Functions for the document that the page's other files share.

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
