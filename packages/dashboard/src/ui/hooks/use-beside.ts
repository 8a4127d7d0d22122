import { useMediaQuery } from "@mantine/hooks";

/** Whether the window is so wide that a list can still be read next to an open drawer. */
export const useBeside = () => useMediaQuery("(min-width: 90em)", undefined, { getInitialValueInEffect: false });
