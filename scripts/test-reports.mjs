// What the test runners' JSON reports say: how many tests passed, failed and were skipped, and which failed.
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ROOT } from "./setup.mjs";

/**
 * @typedef {{passed: number, failed: number, skipped: number, failures: string[]}} Result `failures` names each test
 *   or file that failed, with the first line of its error
 */

/** @returns {Result} */
export function fromVitest(report) {
	const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
		const tests = assertionResults.filter((test) => test.status === "failed");
		const file = relative(ROOT, name);
		// A file that couldn't be loaded has no tests.
		if (tests.length === 0) return status === "failed" ? [failure([file], message)] : [];
		return tests.map(({ ancestorTitles, title, failureMessages }) =>
			failure([file, ...ancestorTitles, title], failureMessages[0]),
		);
	});
	const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = report;
	return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests, failures };
}

/** @returns {Result} */
export function fromPlaywright({ stats, suites, errors }) {
	return {
		passed: stats.expected,
		failed: stats.unexpected + stats.flaky,
		skipped: stats.skipped,
		failures: [
			...suites.flatMap((suite) => failedSpecs(suite, [])),
			...errors.map(({ message }) => failure(["playwright"], message)),
		],
	};
}

function failedSpecs({ title, suites = [], specs }, path) {
	const here = [...path, title];
	const failed = specs.filter(({ ok, tests }) => !ok || tests.some(({ status }) => status === "flaky"));
	return [
		...failed.map((spec) => {
			const errors = spec.tests.flatMap(({ results }) => results.flatMap((result) => result.error ?? []));
			return failure([...here, spec.title], errors[0]?.message);
		}),
		...suites.flatMap((suite) => failedSpecs(suite, here)),
	];
}

function failure(path, message = "") {
	const [first] = stripVTControlCharacters(message).trim().split("\n");
	return `${path.join(" › ")}${first ? `: ${first}` : ""}`;
}
