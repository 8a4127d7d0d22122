import { headerNames, type RequestHeaders, requestHeaders } from "@posthorn/protocol";

/** The headers of one request as names and values in turn, the form that undici takes at the least cost. */
export type HeaderList = (request: Omit<RequestHeaders, "brand">) => string[];

/** Makes the names and what never varies once for all requests of a brand. */
export function headerList(brand: string): HeaderList {
	const constant = requestHeaders({ brand, eventType: "", eventId: "", timestamp: "", signature: "" });
	const template = Object.entries(constant).flat();
	const names = headerNames(brand);
	const event = template.indexOf(names.event) + 1;
	const eventId = template.indexOf(names.eventId) + 1;
	const signature = template.indexOf(names.signature) + 1;
	const timestamp = template.indexOf(names.timestamp) + 1;
	return (request) => {
		const list = template.slice();
		list[event] = request.eventType;
		list[eventId] = request.eventId;
		list[signature] = request.signature;
		list[timestamp] = `${request.timestamp}`;
		return list;
	};
}
