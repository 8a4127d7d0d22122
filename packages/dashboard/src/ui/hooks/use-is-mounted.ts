import { useCallback, useEffect, useRef } from "react";

/** Tells, after something asynchronous, whether the component is still shown. */
export function useIsMounted(): () => boolean {
	const mounted = useRef(false);
	useEffect(() => {
		mounted.current = true;
		return () => {
			mounted.current = false;
		};
	}, []);
	return useCallback(() => mounted.current, []);
}
