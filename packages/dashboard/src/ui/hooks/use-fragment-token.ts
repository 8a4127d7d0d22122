import { useEffect, useState } from "react";

const fragment = () => window.location.hash.slice(1);

/**
 * The token in a link's fragment, or null. It is removed from the address bar, so that it isn't kept in the history or
 * sent anywhere. A link pasted into the open page replaces it.
 */
export function useFragmentToken(): string | null {
	const [token, setToken] = useState(fragment);
	useEffect(() => {
		const take = () => {
			const next = fragment();
			if (next === "") return;
			setToken(next);
			window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
		};
		take();
		window.addEventListener("hashchange", take);
		return () => window.removeEventListener("hashchange", take);
	}, []);
	return token === "" ? null : token;
}
