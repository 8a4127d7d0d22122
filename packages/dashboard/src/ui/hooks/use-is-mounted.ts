import { useCallback, useEffect, useRef } from "react";

/** Whether the component is still shown, for what has taken a while. */
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
