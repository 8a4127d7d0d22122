import { useMediaQuery } from "@mantine/hooks";

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
