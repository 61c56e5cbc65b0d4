// What the page's other files share to read and write the document.

export const byId = (id) => document.getElementById(id);

/** Writes only what changed, so that a selection and a screen reader's place outlive the next look. */
export const write = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
};

/** A new element as the template of this id describes it. */
export const fromTemplate = (id) => byId(id).content.cloneNode(true).firstElementChild;

/** Changes an element. Where the keyboard's place was in what is gone, it goes to another element, rather than to nowhere. */
export const keepingFocus = (element, otherwise, change) => {
    const hadIt = element.contains(document.activeElement);
    change(element);
    if (hadIt && !element.contains(document.activeElement)) otherwise.focus();
};
