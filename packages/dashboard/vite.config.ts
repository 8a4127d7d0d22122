import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where a development server finds the API: a service with default settings. */
const API = "http://127.0.0.1:8420";

export default defineConfig({
	plugins: [react()],
	server: {
		port: 8421,
		proxy: { "/v1": { target: API, changeOrigin: false } },
	},
	build: {
		target: ["chrome119", "edge119", "firefox121", "safari17.2"],
		// The page's Content-Security-Policy only allows its own files, so nothing is inlined.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		chunkSizeWarningLimit: 700,
	},
});
