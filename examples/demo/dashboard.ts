import type { Api } from "./api.ts";
import type { Service } from "./service.ts";

/** What lets the person at the terminal into the dashboard. */
export interface DashboardAccess {
	/** Signs in at once, one time. */
	readonly url: string;
	readonly email: string;
	readonly password: string;
}

/** Good on this computer, for as long as the demonstration runs. */
const ACCOUNT = { email: "demo@example.com", name: "Demo owner", password: "demonstration" };

/** Makes the operator's account by the link that the service printed, and a link that signs in to it. */
export async function openDashboard(service: Service, api: Api, projectId: string): Promise<DashboardAccess> {
	await api.setUp({ token: service.setupToken(), ...ACCOUNT });
	const { url } = await api.createSignInLink(ACCOUNT.email);
	const [page = "", token] = url.split("#");
	return { url: `${page}?next=/p/${projectId}#${token}`, email: ACCOUNT.email, password: ACCOUNT.password };
}
