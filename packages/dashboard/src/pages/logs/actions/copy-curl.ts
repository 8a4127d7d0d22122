import { type Attempt, attemptQuery } from "../../../api/attempts.ts";
import { queryClient } from "../../../api/client/query-client.ts";
import { curlCommand, type SentRequest, signatureWords } from "../../../lib/attempts/curl.ts";
import { serverNow } from "../../../lib/text/server-time.ts";
import { copyText } from "../../../ui/hooks/use-copy.ts";
import { notifyDone, notifyProblem, notifyUndone } from "../../../ui/notify.tsx";

/** The request that an attempt sent; null if nothing was sent. */
export function requestOf(attempt: Attempt): SentRequest | null {
	const { method, url, request_headers: headers, request_body: body } = attempt;
	return Object.keys(headers).length === 0 ? null : { method, url, headers, body };
}

/** Copies an attempt's request as a curl command and says how long it is valid. */
export async function copyCurl(projectId: string, attemptId: string): Promise<void> {
	try {
		const request = requestOf(await queryClient.fetchQuery(attemptQuery(projectId, attemptId)));
		if (request === null) return notifyUndone("Nothing was sent, so there's no request to copy.");
		await copyText(curlCommand(request));
		notifyDone(`Copied as a curl command. ${signatureWords(request, serverNow())}`);
	} catch (error) {
		if (error instanceof DOMException) notifyUndone("The browser doesn't allow copying here.");
		else notifyProblem(error);
	}
}
