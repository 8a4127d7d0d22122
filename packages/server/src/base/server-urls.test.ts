import { expect, test } from "vitest";
import { serverUrls } from "./text.ts";

test("each server of a database URL gets its own URL, with the same user, database and parameters", () => {
	expect(serverUrls("postgres://me:p%2C@a:5432,b,[::1]:5433/shop?sslmode=require")).toEqual([
		"postgres://me:p%2C@a:5432/shop?sslmode=require",
		"postgres://me:p%2C@b/shop?sslmode=require",
		"postgres://me:p%2C@[::1]:5433/shop?sslmode=require",
	]);
	expect(serverUrls("postgresql://a,b/shop?options=x,y")).toEqual([
		"postgresql://a/shop?options=x,y",
		"postgresql://b/shop?options=x,y",
	]);
	for (const one of ["postgres://me:a,b@host/shop", "postgres:///shop?host=/run", "sqlite:./a,b.db"])
		expect(serverUrls(one)).toEqual([one]);
});
