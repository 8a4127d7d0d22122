import { Page, PageHeader } from "../../ui/page.tsx";

export function DeliveryDrawer() {
	return (
		<Page>
			<PageHeader title="Delivery" />
		</Page>
	);
}
