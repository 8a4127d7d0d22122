/** Attributes of the library's dialogs and drawers: their header isn't the page's banner. */
export const plainHeader = { header: { role: "presentation" } };
