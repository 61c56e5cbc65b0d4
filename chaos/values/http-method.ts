/** The characters of a token (RFC 9110, 5.6.2), for the brackets of a regular expression. */
export const tokenCharacters = "!#$%&'*+\\-.^_`|~\\dA-Za-z";

const headerName = new RegExp(`^[${tokenCharacters}]+$`);
export const isHeaderName = (text: string): boolean => headerName.test(text);

/**
 * A method may be any token, whose case counts (RFC 9110, 9.1); only Node.js's own server limits them to a list. Longer
 * ones count as none here, because other protocols may begin with long words.
 */
export const longestMethod = 128;
const method = new RegExp(`^[${tokenCharacters}]{1,${longestMethod}}$`);

/** Whether a text is a method that somebody may have meant: `get` is no server's GET. */
export const isMethod = (text: string): boolean =>
    method.test(text) && !(usual.test(text) && text !== text.toUpperCase());

const usual = /^(?:delete|get|head|options|patch|post|put)$/i;

export const allowedMethods =
    `letters, digits and !#$%&'*+-.^_\`|~, at most ${longestMethod}, in the case in which they are sent, such as ` +
    "GET, PURGE or BAN";
