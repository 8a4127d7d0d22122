import { useMediaQuery } from "@mantine/hooks";
import { useState } from "react";

/** Next to the menu, a table shows less than cards do up to this width. Paper has no menu. */
const NARROW = "screen and (max-width: 62em), (max-width: 48em)";

/** Whether wide tables are shown as cards. */
export const useNarrow = () => useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });

/** Whether the page is being printed. */
export const useIsPrinted = () => useMediaQuery("print", undefined, { getInitialValueInEffect: false });

/** Whether the window is so wide that the menu is always shown. */
export const useHasMenu = () => useMediaQuery("(min-width: 48em)", undefined, { getInitialValueInEffect: false });

/** Whether the window is so wide that a list can still be read next to an open drawer. */
export const useBeside = () => useMediaQuery("(min-width: 90em)", undefined, { getInitialValueInEffect: false });

const textScale = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** How much larger text is than usual, as the browser's settings say. A change counts from the next page on. */
export const useTextScale = () => useState(textScale)[0];
