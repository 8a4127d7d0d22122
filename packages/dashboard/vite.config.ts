import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compressed, withFont } from "./build-plugins.ts";

/** Where a development server finds the API: a service with default settings. */
const API = "http://127.0.0.1:8420";

export default defineConfig({
	plugins: [react(), withFont(), compressed()],
	server: {
		port: 8421,
		proxy: Object.fromEntries(
			["/v1", "/openapi.json", "/healthz"].map((path) => [path, { target: API, changeOrigin: false }]),
		),
	},
	build: {
		// The oldest with all that the dashboard calls, such as `URL.canParse` and `Promise.withResolvers`.
		target: ["chrome120", "edge120", "firefox121", "safari17.4"],
		// The page's Content-Security-Policy only allows its own files, so nothing is inlined.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		chunkSizeWarningLimit: 900,
		rolldownOptions: {
			output: {
				// A few files that change at different times, instead of dozens: each request of a cold page costs a round trip.
				codeSplitting: {
					groups: [
						{ name: "vendor", test: /node_modules/, priority: 2 },
						{
							name: "shared",
							test: /src[\\/](?:api|lib|ui)[\\/](?!.*(?:charts[-.]|snippets|data-table))/,
							priority: 1,
							minShareCount: 2,
						},
					],
				},
			},
		},
	},
});
