import { useFragmentToken } from "../../ui/hooks/use-fragment-token.ts";
import { LinkSignIn } from "./link-sign-in.tsx";
import { PasswordSignIn } from "./password-sign-in.tsx";

/** Signs in with the password, or with the token of a link from the operator. */
export function SignInPage() {
	const token = useFragmentToken();
	return token === null ? <PasswordSignIn /> : <LinkSignIn key={token} token={token} />;
}
