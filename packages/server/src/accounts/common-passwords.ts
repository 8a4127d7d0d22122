/**
 * Passwords that guessing programs try first. Their lists are long, but entries of ten characters or more are mostly
 * words with digits around them, runs of keys, and repetitions, so a few rules catch more than a list would.
 */

/** Words of lists of the most common passwords, and of this service. */
const WORDS: readonly string[] =
	`abc abcd abcdef access account admin administrator america amanda andrea andrew angel anthony asdf asdfgh ashley bailey
	banana baseball basketball batman buster butterfly changeme changeit charlie cheese chelsea chocolate computer cookie
	daniel dashboard default demo diamond donald dragon elephant enter family ferrari flower football forever freedom
	friends george ginger google guest hannah hello hockey hunter iloveyou internet jennifer jessica jordan joshua justin
	killer letmein liverpool login london lovely love loveme maggie manager master matrix matthew melissa michael michelle
	microsoft monkey morgan mustang mypass mypassword nicole ninja nothing oliver operator orange owner pass passphrase
	passport passw password passwort pepper phoenix please pokemon posthorn princess purple qazwsx qwer qwert qwerty
	qwertz rainbow ranger robert root samantha samsung school secret secure security server service shadow shop silver
	snoopy soccer sparky spring starwars store summer sunshine superman support sysadmin system taylor temp temporary test
	testing thomas thunder tigger toor trustno unknown user viewer webhook webhooks welcome whatever william windows winter
	yankees zaq zxcvbn`.split(/\s+/);

/** Rows of keyboards, the alphabet and digits, whose runs are typed without thought. */
const ROWS = [
	"abcdefghijklmnopqrstuvwxyz",
	"01234567890",
	"qwertyuiop[]",
	"qwertzuiopü",
	"azertyuiop",
	"asdfghjkl;'",
	"zxcvbnm,./",
	"yxcvbnm,.-",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
	"qazwsxedcrfvtgbyhnujmikolp",
	"1q2w3e4r5t6y7u8i9o0p",
	"q1w2e3r4t5y6u7i8o9p0",
	"!@#$%^&*()",
	'!"§$%&/()=',
].flatMap((row) => [row, [...row].reverse().join("")]);
/** Shorter runs also occur in good passwords. */
const MIN_RUN = 3;

/** Symbols and digits that stand for letters. */
const LETTERS: Readonly<Record<string, string>> = {
	"0": "o",
	"1": "i",
	"3": "e",
	"4": "a",
	"5": "s",
	"7": "t",
	"8": "b",
	"@": "a",
	$: "s",
	"!": "i",
};

/** A password needs this many different characters besides what is easy to guess. */
const MIN_DIFFERENT = 4;
/** Shorter parts of names also occur in good passwords. */
const MIN_PART = 3;

/**
 * Whether a guessing program would soon find this password: besides common words, runs of keys, years and what is known
 * about its user (`known`: e-mail address, name), it has only a few different characters.
 */
export function isCommonPassword(password: string, known: readonly string[]): boolean {
	const text = fold(password);
	const spelled = text.map((character) => LETTERS[character] ?? character);
	const easy = new Array<boolean>(text.length).fill(false);
	const mark = (at: number, length: number) => easy.fill(true, at, at + length);
	const words = [...WORDS, ...known.flatMap(partsOf)];
	for (const form of [text.join(""), spelled.join("")])
		for (const word of words)
			for (let at = form.indexOf(word); at >= 0; at = form.indexOf(word, at + 1)) mark(at, word.length);
	for (const { index, 0: year } of text.join("").matchAll(/(?:19|20)\d\d/g)) mark(index, year.length);
	for (let at = 0; at < text.length; at++) {
		const length = Math.max(...ROWS.map((row) => runAt(text, at, row)));
		if (length >= MIN_RUN) mark(at, length);
	}
	return new Set(text.filter((character, at) => !easy[at] && character !== " ")).size < MIN_DIFFERENT;
}

/** In lower case, one UTF-16 unit for each character, so that positions agree. */
const fold = (text: string): string[] => text.normalize("NFKC").toLowerCase().split("");

/** An address or a name, and its words. */
function partsOf(known: string): string[] {
	const text = fold(known).join("");
	return [text, ...text.split(/[^\p{L}\p{N}]+/u)].filter((part) => part.length >= MIN_PART);
}

/** How many characters from `at` on follow a row. */
function runAt(text: readonly string[], at: number, row: string): number {
	const start = row.indexOf(text[at]!);
	if (start < 0) return 0;
	let length = 1;
	while (at + length < text.length && start + length < row.length && text[at + length] === row[start + length])
		length++;
	return length;
}
