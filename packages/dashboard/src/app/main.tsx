import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "../ui/font.css";
import "../ui/vars.css";
import "./global.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "../api/client/query-client.ts";
import { actOnce } from "./act-once.ts";
import { router } from "./router.tsx";
import { cssVariables, theme } from "./theme.ts";

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
// The scroll-locking library looks here for the nonce of its style element.
Object.assign(globalThis, { __webpack_nonce__: nonce });

actOnce();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root.");

createRoot(root).render(
	<StrictMode>
		<MantineProvider
			theme={theme}
			cssVariablesResolver={cssVariables}
			defaultColorScheme="auto"
			getStyleNonce={() => nonce}
		>
			<QueryClientProvider client={queryClient}>
				<Notifications position="bottom-right" />
				<RouterProvider router={router} />
			</QueryClientProvider>
		</MantineProvider>
	</StrictMode>,
);
