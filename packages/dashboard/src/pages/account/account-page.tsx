import { useSession } from "../../api/session.ts";
import { Page, PageHeader } from "../../ui/page/page.tsx";
import { NameSection } from "./name-section.tsx";
import { PasswordSection } from "./password-section.tsx";
import { SessionsSection } from "./sessions-section.tsx";

/** The user's own name, password and sessions. */
export function AccountPage() {
	const { account, by_link } = useSession();
	return (
		<Page narrow>
			<PageHeader title="Account">
				{by_link
					? "You signed in with a link. Set a new password now: for 15 minutes you don't need the old one."
					: `Signed in as ${account.email}${account.operator ? ", the operator of this instance" : ""}.`}
			</PageHeader>
			{by_link ? <PasswordSection /> : null}
			<NameSection key={account.name} />
			{by_link ? null : <PasswordSection />}
			<SessionsSection />
		</Page>
	);
}
