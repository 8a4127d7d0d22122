import { useEffect, useState } from "react";

/**
 * The token in a link's fragment, or null. It is removed from the address bar, so that it isn't kept in the history or
 * sent anywhere.
 */
export function useFragmentToken(): string | null {
	const [token] = useState(() => window.location.hash.slice(1));
	useEffect(() => {
		if (window.location.hash !== "") {
			window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
		}
	}, []);
	return token === "" ? null : token;
}
