import { expect, test } from "vitest";
import { isCommonPassword } from "./password.ts";

const ADA = ["ada@example.com", "Ada Lovelace"];

test.each([
	"1234567890",
	"0987654321",
	"qwertyuiop",
	"1q2w3e4r5t",
	"1qaz2wsx3edc",
	"qazwsxedc1",
	"abcdefghij",
	"asdfghjkl;'",
	"password123",
	"Password1!",
	"P@ssw0rd123",
	"passwordpassword",
	"iloveyou12",
	"letmein123",
	"Summer2026!!",
	"qwerty123456",
	"aaaaaaaaaa",
	"abcabcabcabc",
	"posthorn123",
])("refuses %s, which guessing programs know", (password) => {
	expect(isCommonPassword(password, [])).toBe(true);
});

test.each(["ada@example.com", "ADA@EXAMPLE.COM", "adalovelace", "Ada.Lovelace2026!", "lovelace12345"])(
	"refuses %s of Ada Lovelace, ada@example.com",
	(password) => {
		expect(isCommonPassword(password, ADA)).toBe(true);
	},
);

test.each([
	"correct horse battery staple",
	"summer rain on tin",
	"purple monkey dishwasher",
	"Xk9$2mPq!7",
	"84720193847561",
	"hT5-posthorn-Vq82x",
	"\u{1f3ba}\u{1f3b7}\u{1f3b8}\u{1f941}\u{1f3bb}",
])("accepts %s", (password) => {
	expect(isCommonPassword(password, ADA)).toBe(false);
});
