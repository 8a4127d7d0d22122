import type { Api } from "./api.ts";
import type { Service } from "./service.ts";

/** How to sign in to the dashboard. */
export interface DashboardAccess {
	/** Signs in immediately; works once. */
	readonly url: string;
	readonly email: string;
	readonly password: string;
}

/** Only valid on this computer while the demonstration runs. */
const ACCOUNT = { email: "demo@example.com", name: "Demo owner", password: "demonstration" };

/** Creates the operator's account with the setup link that the service left, and a link to sign in with. */
export async function openDashboard(service: Service, api: Api, projectId: string): Promise<DashboardAccess> {
	await api.setUp({ token: service.setupToken(), ...ACCOUNT });
	const { url } = await api.createSignInLink(ACCOUNT.email);
	const [page = "", token] = url.split("#");
	return { url: `${page}?next=/p/${projectId}#${token}`, email: ACCOUNT.email, password: ACCOUNT.password };
}
