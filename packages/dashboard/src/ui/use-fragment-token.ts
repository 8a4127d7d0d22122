import { useEffect, useState } from "react";

/**
 * The token that a link carried in its fragment, or null. It is taken out of the address bar, so that it stays in no
 * history and is sent to nobody.
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
