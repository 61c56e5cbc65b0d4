/** Where runs on the shop write their journals and pages, from the repository's root. */
export const reportsFolder = "reports";
